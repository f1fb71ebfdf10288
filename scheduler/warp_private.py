"""What is used of Warp that Warp does not promise to keep: no other file imports `warp._src`."""

from warp._src.context import (
    _build_cpu_args_structs as pack_cpu_arguments,
)  # so that a launch packs once, not each time
from warp._src.context import builtin_functions  # what a name means in a kernel; `wp.tile_load` is no attribute
from warp._src.types import is_reference  # `wp.ref[T]` parameters, which a function may write to

__all__ = ["BUILTINS_MODULE", "builtin_functions", "is_reference", "pack_cpu_arguments"]

BUILTINS_MODULE = "warp._src.builtins"
"""Where those of them live that are also Python functions, as `wp.static`."""
