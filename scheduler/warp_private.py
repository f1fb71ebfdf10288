"""What is used of Warp that Warp does not promise to keep: no other file imports `warp._src`."""

from warp._src.context import _build_cpu_args_structs as pack_cpu_arguments
from warp._src.context import builtin_functions
from warp._src.types import is_reference

__all__ = ["BUILTINS_MODULE", "builtin_functions", "is_reference", "pack_cpu_arguments"]

# pack_cpu_arguments: the arguments of a recorded CPU launch, packed once instead of at each launch.
# builtin_functions: what names mean in a kernel (`wp.tile_load` is no attribute of `wp`).
# is_reference: whether a parameter is a `wp.ref[T]`, which the function may write to.

BUILTINS_MODULE = "warp._src.builtins"
"""Where those built-in functions live that are also Python functions, as `wp.static`."""
