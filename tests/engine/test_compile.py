"""Every kernel compiles for an H200 (sm_90), also on a machine without a GPU."""

import ctypes
import importlib
import re
import time
from pathlib import Path

import warp as wp

from acesim_rl import Model, stages
from acesim_rl.envs import tasks
from acesim_rl.model import ModelData
from acesim_rl.scene import ROBOTS, asset_path
from acesim_rl.stage import BLOCK_DIM, Stage
from acesim_rl.state import StateData


def all_stages() -> list[Stage]:
    """The physics, the solvers for the robots' numbers of dofs, and the tasks' stages."""
    found = [*stages.GENERIC, *(stage for together in stages.OPTIONAL for stage in together)]
    models = [Model.from_mjcf(asset_path(name)) for name in ROBOTS]
    for nv in sorted({model.nv for model in models if model.plain_newton}):
        found += [*(stages.newton(nv, chunks) for chunks in (1, 2, None)), stages.euler_damping(nv)]
    found += [
        *(stages.pgs(23, chunks) for chunks in (1, 2, None)),
        *(stages.pgs_many(6, cones) for cones in (False, True)),
        stages.islands,
        stages.count_bins,
    ]
    found += [stages.primal(6, "newton", True), stages.primal(6, "cg")]
    found.append(stages.implicit(9))
    for name in tasks():
        task = importlib.import_module(f"acesim_rl.envs.{name}")
        found += [value for value in vars(task).values() if isinstance(value, Stage)]
    return list(dict.fromkeys(found))


def test_kernels_compile_for_sm_90(tmp_path, capsys):
    kernels = [stage.kernel_for(cpu=False) for stage in all_stages()]
    seconds = {}
    for module in dict.fromkeys(kernel.module for kernel in kernels):
        module.options["block_dim"] = BLOCK_DIM
        start = time.perf_counter()
        wp.compile_aot_module(module, arch=90, module_dir=tmp_path, use_ptx=False)
        seconds[module.name] = time.perf_counter() - start
    assert len(list(tmp_path.glob("*.cubin"))) == len(seconds)
    with capsys.disabled():
        print("\nsm_90, seconds:", ", ".join(f"{name} {value:.1f}" for name, value in seconds.items()))
    ant = sum(seconds[name] for name in seconds if name in ("acesim_rl.stages.cuda", "acesim_rl.solver.nv14.cuda"))
    assert ant < 60.0


def ptx(variant: Stage, folder: Path) -> str:
    """The kernel of a stage in the CUDA compiler's intermediate language."""
    module = variant.kernel_for(cpu=False).module
    module.options["block_dim"] = BLOCK_DIM
    wp.compile_aot_module(module, arch=90, module_dir=folder, use_ptx=True)
    text = max(folder.glob("*.ptx"), key=lambda file: file.stat().st_mtime_ns).read_text(errors="ignore")
    return next(entry for entry in text.split(".entry")[1:] if entry.strip().startswith(variant.name))


def test_what_belongs_to_a_row_stays_in_registers(tmp_path):
    for variant in (stages.newton(14, 2), stages.pgs(23, 2), stages.pgs(23)):
        assert not re.findall(r"^.*\.local.*", ptx(variant, tmp_path), re.MULTILINE)


def test_no_multiply_add_is_left_to_the_compiler(tmp_path):
    """What it may fuse or not, as it likes, could differ between the variants of a solver, and with it their bits."""
    for variant in (stages.newton(14, 1), stages.newton(14), stages.pgs(23, 1)):
        text = ptx(variant, tmp_path)
        made_by: dict[str, str] = {}  # which instruction each register was last set by
        for operation, target, sources in re.findall(r"^\s*(\S+)\s+(%f\d+), (.*);", text, re.MULTILINE):
            products = [source for source in sources.split(", ") if made_by.get(source) == "mul.f32"]
            assert not (operation in ("add.f32", "sub.f32") and products), (variant.name, target)
            made_by[target] = operation
        assert "fma.rn.f32" in made_by.values() and "mul.f32" in made_by.values()


def test_structs_fit():
    """Above 8 kB the CUDA compiler keeps a kernel's copy of a struct whole, and takes a hundred times as long."""
    for struct in (ModelData, StateData):
        assert ctypes.sizeof(struct.ctype) <= 8192, struct
