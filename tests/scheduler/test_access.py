"""Reads and writes derived from the syntax tree."""

from typing import Any

import pytest
import warp as wp

from acesim_rl.scheduler import AccessError, access_of, accesses


@wp.struct
class Inner:
    mass: wp.array(dtype=float)
    force: wp.array(dtype=wp.vec3)


@wp.struct
class Data:
    x: wp.array2d(dtype=float)
    y: wp.array2d(dtype=float)
    v: wp.array2d(dtype=wp.vec3)
    m: wp.array3d(dtype=float)
    index: wp.array(dtype=int)
    count: int
    inner: Inner


def sets(kernel):
    access = access_of(kernel)
    return set(access.reads), set(access.writes)


def test_loads_stores_and_augmented_stores():
    @wp.kernel
    def kernel(d: Data, a: wp.array(dtype=float), b: wp.array(dtype=float), c: wp.array(dtype=float)):
        i, w = wp.tid()
        a[i] = d.x[d.index[i], w] * 2.0
        d.y[i, w] += 1.0
        if i < d.count and d.v.shape[0] > len(b):
            c[i] = wp.sqrt(a[i])

    assert sets(kernel) == ({"a", "d.x", "d.index", "d.y"}, {"a", "d.y", "c"})


def test_components_of_an_element():
    @wp.kernel
    def kernel(d: Data):
        i, w = wp.tid()
        d.v[i, w][0] = 1.0

    @wp.kernel
    def named(d: Data):
        i, w = wp.tid()
        d.v[i, w].x += d.inner.force[i].y

    @wp.kernel
    def local(d: Data, out: wp.array(dtype=wp.vec3)):
        i, w = wp.tid()
        v = d.v[i, w]
        v[0] = 1.0  # a copy
        out[i] = v

    assert sets(kernel) == ({"d.v"}, {"d.v"})
    assert sets(named) == ({"d.v", "d.inner.force"}, {"d.v"})
    assert sets(local) == ({"d.v"}, {"out"})


def test_atomics():
    @wp.kernel
    def kernel(d: Data, sums: wp.array(dtype=float)):
        i, w = wp.tid()
        wp.atomic_add(sums, 0, d.x[i, w])
        old = wp.atomic_max(d.inner.mass, i, 1.0)
        d.y[i, w] = old

    assert sets(kernel) == ({"sums", "d.x", "d.inner.mass"}, {"sums", "d.inner.mass", "d.y"})


def test_local_names_and_views():
    @wp.kernel
    def kernel(d: Data, flag: bool):
        i, w = wp.tid()
        x = d.x
        z = d.y
        if flag:
            z = x
        block = d.m[i]
        row = block[0]
        row[w] = z[i, w]

    assert sets(kernel) == ({"d.x", "d.y"}, {"d.m"})


def test_a_name_that_is_given_its_array_later_in_a_loop():
    @wp.kernel
    def kernel(d: Data, a: wp.array2d(dtype=float)):
        i, w = wp.tid()
        b = a
        for _k in range(d.count):
            b[i, w] = 1.0
            b = d.x

    assert sets(kernel) == (set(), {"a", "d.x"})


@wp.func
def norm(d: Data, i: int, w: int):
    return wp.length(d.v[i, w])


@wp.func
def scale(values: wp.array2d(dtype=float), i: int, w: int, factor: float = 1.0):
    values[i, w] = values[i, w] * factor


@wp.func
def both(d: Data, i: int, w: int):
    scale(d.y, i, w, factor=norm(d, i, w))


@wp.func
def pick_array(d: Data):
    return d.x


@wp.func
def first_of(values: Any, i: int):
    return values[i]


@wp.func
def bump(value: wp.ref[float]):
    value += 1.0


def test_calls_bind_structs_fields_and_keywords():
    @wp.kernel
    def kernel(d: Data, e: Data):
        i, w = wp.tid()
        both(d, i, w)
        scale(values=e.x, i=i, w=w, factor=2.0)

    @wp.kernel
    def returned(d: Data):
        i, w = wp.tid()
        pick_array(d)[i, w] = 1.0
        a, b = first_of(d.inner.mass, i), first_of(d.index, i)
        d.y[i, w] = a + float(b)

    @wp.kernel
    def by_reference(d: Data):
        i, w = wp.tid()
        bump(d.x[i, w])

    assert sets(kernel) == ({"d.y", "d.v", "e.x"}, {"d.y", "e.x"})
    assert sets(returned) == ({"d.inner.mass", "d.index"}, {"d.x", "d.y"})
    assert sets(by_reference) == ({"d.x"}, {"d.x"})
    assert access_of(both) == (frozenset({"d.y", "d.v"}), frozenset({"d.y"}))


def test_functions_from_closures_and_static_expressions():
    def build(function, table):
        @wp.kernel
        def kernel(d: Data):
            i, w = wp.tid()
            function(d, i, w)

        @wp.kernel
        def static(d: Data):
            i, w = wp.tid()
            wp.static(table["f"])(d, i, w)
            for k in range(2):
                d.x[i, w] = wp.static(float(k))

        return kernel, static

    kernel, static = build(both, {"f": both})
    assert sets(kernel) == ({"d.y", "d.v"}, {"d.y"})
    assert sets(static) == ({"d.y", "d.v"}, {"d.y", "d.x"})


def test_a_name_for_several_functions():
    @wp.kernel
    def kernel(d: Data, flag: bool):
        i, w = wp.tid()
        f = both
        if flag:
            f = norm
        f(d, i, w)

    assert "d.v" in sets(kernel)[1], "not known which: everything that it is given is read and written"


def test_a_kernel_from_source_text():
    source = "def made(d: Data, out: wp.array(dtype=float)):\n    w = wp.tid()\n    out[w] = norm(d, 0, w)\n"
    scope = {"wp": wp, "Data": Data, "norm": norm}
    exec(compile(source, __file__, "exec"), scope)
    kernel = wp.Kernel(scope["made"], key="made", module=wp.get_module("made"), source=source)
    assert sets(kernel) == ({"d.v"}, {"out"})


def test_overloads_are_united():
    @wp.func
    def put(a: wp.array(dtype=float), b: wp.array(dtype=float), value: float):
        a[0] = value

    @wp.func
    def put(a: wp.array(dtype=float), b: wp.array(dtype=float), value: int):  # noqa: F811
        b[0] = float(value)

    @wp.kernel
    def kernel(a: wp.array(dtype=float), b: wp.array(dtype=float)):
        put(a, b, 1.0)

    assert sets(kernel) == (set(), {"a", "b"})


def test_what_is_not_understood_is_read_and_written():
    @wp.kernel
    def kernel(d: Data, a: wp.array(dtype=float), b: wp.array(dtype=float)):
        wp.some_function_of_the_future(d.inner, a)  # ty: ignore
        e = Data()
        e.x = d.x
        b[0] = 1.0

    everything = {"d.inner.mass", "d.inner.force", "a", "d.x"}
    assert sets(kernel) == (everything, everything | {"b"})


def test_native_functions_must_declare():
    @wp.func_native("out[0] = M[0] + d.x.data[0];")
    def silent(M: wp.array(dtype=float), d: Data, out: wp.array(dtype=float)): ...

    @wp.kernel
    def caller(M: wp.array(dtype=float), d: Data, out: wp.array(dtype=float)):
        silent(M, d, out)

    with pytest.raises(AccessError, match=r"silent.*\(M, d\.x.*@accesses"):
        access_of(caller)

    @accesses(reads=("M", "d.x"), writes=("out",))
    @wp.func_native("out[0] = M[0] + d.x.data[0];")
    def declared(M: wp.array(dtype=float), d: Data, out: wp.array(dtype=float)): ...

    @wp.kernel
    def good(m: wp.array(dtype=float), e: Data, result: wp.array(dtype=float)):
        declared(m, e, result)

    assert sets(good) == ({"m", "e.x"}, {"result"})
    with pytest.raises(AccessError, match="no parameter 'J', only M, d, out"):
        accesses(reads=("J",))(declared)


def test_native_functions_of_values_need_no_declaration():
    @wp.func_native("return a * 2.0f;")
    def twice(a: float) -> float: ...

    @wp.kernel
    def kernel(a: wp.array(dtype=float)):
        a[0] = twice(1.0)

    assert sets(kernel) == (set(), {"a"})
