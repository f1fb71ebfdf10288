"""Random numbers by counter: a draw depends on (seed, world, episode, index) alone, not on who asks or when.

The generator is SplitMix64's finalizer (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators")
applied once for each part of the counter.
"""

import warp as wp

__all__ = ["standard_normal", "uniform"]


@wp.func
def mix(x: wp.uint64) -> wp.uint64:
    z = x + wp.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> wp.uint64(30))) * wp.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> wp.uint64(27))) * wp.uint64(0x94D049BB133111EB)
    return z ^ (z >> wp.uint64(31))


@wp.func
def uniform(seed: wp.int64, world: int, episode: int, index: int) -> float:
    """A number in [0, 1), a multiple of 2**-24."""
    z = mix(wp.uint64(seed))
    z = mix(z ^ wp.uint64(world))
    z = mix(z ^ wp.uint64(episode))
    z = mix(z ^ wp.uint64(index))
    return float(wp.uint32(z >> wp.uint64(40))) * 5.9604644775390625e-8


@wp.func
def standard_normal(seed: wp.int64, world: int, episode: int, index: int) -> float:
    """A standard normal number (Box-Muller), from the uniform draws ``index`` and ``index + 1``."""
    radius = wp.sqrt(-2.0 * wp.log(1.0 - uniform(seed, world, episode, index)))
    return radius * wp.cos(6.283185307179586 * uniform(seed, world, episode, index + 1))
