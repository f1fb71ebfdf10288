"""The walk over one function's syntax tree that finds which arrays it reads and writes."""

import ast
import builtins
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import warp as wp

from acesim_rl.scheduler.warp_private import BUILTINS_MODULE, builtin_functions, is_reference

__all__ = ["Access", "AccessError", "Place", "Summary", "Walk", "arrays_in", "overloads", "place_of"]


class AccessError(TypeError):
    """A kernel whose reads and writes cannot be derived."""


class Access(NamedTuple):
    """Paths that a kernel or function reads and writes, as `x` or `d.qpos`."""

    reads: frozenset[str]
    writes: frozenset[str]


class Place(NamedTuple):
    """An array (or a struct holding arrays) that an expression may stand for."""

    path: str
    struct: Any  # the Struct, None for an array
    ndim: int  # of the array or view, -1 where unknown
    packed: bool = False  # an array of one struct that holds arrays: see operation.Packed


class Summary(NamedTuple):
    """Effects of one function in terms of its own parameters."""

    parameters: dict[str, Any]
    access: Access
    returns: frozenset[Place]


NOTHING: frozenset[Place] = frozenset()
SHAPE_ATTRIBUTES = {"shape", "ndim", "size", "strides", "dtype", "device"}
NO_ACCESS = {"len", "unot", "type", "isinstance"}
READS = {"tile_load", "tile_load_indexed", "lower_bound", "sample_cdf", "print", "printf", "volume_sample_index"}
WRITES = {"tile_store", "tile_store_indexed", "array_store"}
ALIASES = {"where", "select", "view"}


def place_of(path: str, kind: Any) -> Place | None:
    """The place that a parameter or field of type `kind` is, None for plain values."""
    if wp.types.is_array(kind):
        if wp.types.type_is_struct(kind.dtype) and any(place_of("", field.type) for field in kind.dtype.vars.values()):
            return Place(path, kind.dtype, 0, packed=True)
        return Place(path, None, kind.ndim)
    if wp.types.type_is_struct(kind):
        return Place(path, kind, 0)
    if kind is Any or isinstance(kind, TypeVar):
        return Place(path, None, -1)
    return None


def arrays_in(place: Place | None) -> list[str]:
    """Paths of all arrays in a place."""
    if place is None:
        return []
    if place.struct is None:
        return [place.path]
    fields = place.struct.vars.items()
    return [path for label, field in fields for path in arrays_in(place_of(f"{place.path}.{label}", field.type))]


def _field(place: Place, name: str) -> Place | None:
    """The field `name` of a place; None where it is a plain value."""
    if place.struct is not None:
        field = place.struct.vars.get(name)
        return None if field is None else place_of(f"{place.path}.{name}", field.type)
    return Place(f"{place.path}.{name}", None, -1) if place.ndim < 0 else place


def overloads(function: wp.Function) -> list[wp.Function]:
    """All functions that a name stands for."""
    found = [*function.user_overloads.values(), *function.user_templates.values(), function]
    return list({id(f): f for f in found}.values())


class Walk(ast.NodeVisitor):
    """One function's walk. `value(node)` records the accesses of an expression and returns what it may stand for."""

    def __init__(self, function, generic: dict[str, Place | None], summary_of: Callable[..., Summary]):
        self.function = function
        self.summary_of = summary_of
        self.parameters = {argument.label: argument.type for argument in function.adj.args}
        self.names: dict[str, set[Place]] = {}
        for label, kind in self.parameters.items():
            place = generic.get(label, place_of(label, kind))
            self.names[label] = set() if place is None else {place}
        self.functions: dict[str, Any] = {}  # local names for functions
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.returns: set[Place] = set()

    def summary(self) -> Summary:
        size = -1
        while size != (size := sum(map(len, self.names.values())) + len(self.functions)):  # until no new name appears
            for statement in self.function.adj.tree.body[0].body:
                self.visit(statement)
        return Summary(self.parameters, Access(frozenset(self.reads), frozenset(self.writes)), frozenset(self.returns))

    def read(self, places):
        self.reads.update(path for place in places for path in arrays_in(place))

    def write(self, places):
        self.writes.update(path for place in places for path in arrays_in(place))

    def escape(self, places):
        self.read(places)
        self.write(places)

    # Statements

    def generic_visit(self, node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.escape(self.value(child))
            else:
                self.visit(child)

    def visit_Expr(self, node):
        self.value(node.value)

    def visit_Return(self, node):
        if node.value is not None:
            self.returns |= self.value(node.value)

    def visit_If(self, node):
        self.value(node.test)  # an array as a test only asks whether it is there
        for statement in (*node.body, *node.orelse):
            self.visit(statement)

    visit_While = visit_If

    def visit_Assign(self, node):
        for target in node.targets:
            self.assign(target, node.value)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.assign(node.target, node.value)

    def visit_AugAssign(self, node):
        self.read(self.value(node.target))
        self.escape(self.value(node.value))
        self.store(node.target)

    def assign(self, target, value):
        if isinstance(target, ast.Tuple | ast.List):
            pairs = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
            for i, element in enumerate(target.elts):
                self.assign(element, value.elts[i] if pairs else value)
            return
        places = self.value(value)
        if isinstance(target, ast.Name):
            self.names.setdefault(target.id, set()).update(places)
            if isinstance(value, ast.Name | ast.Attribute | ast.Call):
                function = self.resolve(value)
                if isinstance(function, wp.Function):  # None once it may be one of several
                    known = self.functions.get(target.id, function)
                    self.functions[target.id] = function if known is function else None
            return
        if isinstance(target, ast.Subscript):
            self.read(places)  # a[i] = b[j] copies a row
        else:
            self.escape(places)  # an array put into a struct is lost from sight
        self.store(target)

    def store(self, node, component=False):
        """Record a store; `component` when only a part of the element changes, so the rest is read."""
        if not isinstance(node, ast.Subscript | ast.Attribute):
            return
        if isinstance(node, ast.Subscript):
            self.escape(self.value(node.slice))
        base = self.value(node.value)
        if not base:
            self.store(node.value, component=True)
        elif isinstance(node, ast.Subscript):
            self.write(base)
            if component:
                self.read(base)

    # Expressions

    def value(self, node) -> set[Place] | frozenset[Place]:
        handler = getattr(self, f"value_{type(node).__name__}", None)
        if handler is not None:
            return handler(node)
        for child in ast.iter_child_nodes(node):
            self.escape(self.value(child))
        return NOTHING

    def value_Name(self, node):
        return self.names.get(node.id, NOTHING)

    def value_Constant(self, node):
        return NOTHING

    def value_Tuple(self, node):
        return frozenset().union(*(self.value(element) for element in node.elts))

    value_List = value_Tuple

    def value_IfExp(self, node):
        self.value(node.test)
        return frozenset(self.value(node.body)) | self.value(node.orelse)

    def value_BoolOp(self, node):
        for operand in node.values:
            self.value(operand)
        return NOTHING

    def value_UnaryOp(self, node):
        places = self.value(node.operand)
        if not isinstance(node.op, ast.Not):
            self.escape(places)
        return NOTHING

    def value_Attribute(self, node):
        found = set()
        for place in self.value(node.value):
            if place.struct is None and node.attr in SHAPE_ATTRIBUTES:
                continue
            if place.struct is None and place.ndim >= 0:
                self.escape([place])  # x.ptr and the like
                continue
            found.add(_field(place, node.attr))
        return found - {None}

    def value_Subscript(self, node):
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        single = 0
        for index in indices:
            self.escape(self.value(index))
            single += not isinstance(index, ast.Slice)
        views = set()
        for place in self.value(node.value):
            if place.packed:
                views.add(place._replace(packed=False))
            elif place.struct is not None:
                self.escape([place])
            elif place.ndim < 0:
                self.read([place])
                views.add(place)
            elif single < place.ndim:
                views.add(Place(place.path, None, place.ndim - single))
            else:
                self.read([place])
        return views

    def value_Call(self, node):
        target = self.resolve(node.func)
        if isinstance(target, wp.Function) and not target.is_builtin():
            return self.call(target, node)
        given = [self.value(argument) for argument in (*node.args, *(k.value for k in node.keywords))]
        places = frozenset().union(*given)
        if isinstance(node.func, ast.Attribute) and target is None:
            places |= self.value(node.func.value)
        name = getattr(target, "key", None) or getattr(target, "__name__", "")
        if name in ALIASES:
            return places
        if name in WRITES:
            self.write(places)
        elif name in READS:
            self.read(places)
        elif name not in NO_ACCESS:
            self.escape(places)  # atomics, tile_atomic_add and everything unknown
        return NOTHING

    def call(self, function, node):
        """A call of a user's function: its effects with its parameters replaced by what they are given."""
        found = set()
        for overload in overloads(function):
            parameters = {argument.label: argument.type for argument in overload.adj.args}
            bound = {keyword.arg: keyword.value for keyword in node.keywords}
            bound |= dict(zip(parameters, node.args, strict=False))
            given = {label: self.value(argument) for label, argument in bound.items()}
            for label, argument in bound.items():
                if is_reference(parameters.get(label)):
                    self.store(argument, component=True)  # wp.ref[T]: the callee may change the element
            summary = self.summary_of(overload, function, _generic(parameters, given))
            for record, paths in ((self.read, summary.access.reads), (self.write, summary.access.writes)):
                for path in paths:
                    record(_translate(given, path))
            for place in summary.returns:
                for origin in _translate(given, place.path):
                    found.add(origin if origin.struct else origin._replace(ndim=place.ndim))
        return found

    def resolve(self, node) -> Any:
        """The object that a callee's expression names, None if unknown."""
        if isinstance(node, ast.Call):
            is_static = getattr(self.resolve(node.func), "__qualname__", "") == "static"
            return self.static(node) if is_static else None
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            found = None if owner is None else getattr(owner, node.attr, None)
            return builtin_functions.get(node.attr) if owner is wp and not isinstance(found, wp.Function) else found
        if not isinstance(node, ast.Name):
            return None
        if hasattr(node, "warp_func"):  # Warp's own mark for an evaluated wp.static(f)
            return node.warp_func
        if node.id in self.names:
            return self.functions.get(node.id)
        scope = self.scope()
        found = scope.get(node.id, getattr(builtins, node.id, None))
        if getattr(found, "__module__", None) in ("builtins", BUILTINS_MODULE) or found is None:
            return builtin_functions.get(node.id, found)
        return found

    def static(self, node):
        expression = ast.Expression(node.args[0] if node.args else node.keywords[0].value)
        try:
            return eval(compile(ast.fix_missing_locations(expression), "<wp.static>", "eval"), self.scope())
        except Exception:  # it depends on a loop's variable: what it is given escapes
            return None

    def scope(self) -> dict[str, Any]:
        function = inspect.unwrap(self.function.func)
        scope = dict(function.__globals__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                scope[name] = cell.cell_contents
            except ValueError:  # not bound yet
                continue
        return scope


def _generic(parameters: dict[str, Any], given: dict[str, Any]) -> tuple:
    """What a call gives to parameters of any type: an array or struct like this, or no array at all."""
    kinds = []
    for label, kind in parameters.items():
        place = place_of(label, kind)
        if place is not None and place.ndim < 0 and label in given:
            shapes = {(p.struct, p.ndim) for p in given[label]}
            if len(shapes) <= 1:
                kinds.append((label, Place(label, *shapes.pop()) if shapes else None))
    return tuple(kinds)


def _translate(given: dict[str, Any], path: str) -> list[Place]:
    """Places of the caller behind a callee's path."""
    root, *fields = path.split(".")
    places = list(given.get(root, ()))
    for name in fields:
        places = [found for place in places if (found := _field(place, name)) is not None]
    return places
