"""Schedule plain Warp kernels and torch work: sixteen independent chains that meet in one sum.

    python examples/schedule_kernels.py

Nobody says what depends on what. The scheduler reads it off the kernels.
"""

import time

import torch
import warp as wp

from acesim_rl.scheduler import call, create, launch, names

CHAINS, SIZE = 16, 4096
wp.config.quiet = True
wp.config.enable_backward = False
device = wp.get_preferred_device()


@wp.struct
class Chain:
    position: wp.array(dtype=float)
    velocity: wp.array(dtype=float)


@wp.kernel
def kick(chain: Chain, steps: int):
    """Reads position, adds to velocity."""
    i = wp.tid()
    for _k in range(steps):
        chain.velocity[i] -= 0.001 * wp.sin(chain.position[i])


@wp.kernel
def drift(chain: Chain, steps: int):
    """Reads velocity, adds to position."""
    i = wp.tid()
    for _k in range(steps):
        chain.position[i] += 0.001 * chain.velocity[i]


@wp.kernel
def gather(chain: Chain, row: wp.array(dtype=float)):
    row[wp.tid()] = chain.position[wp.tid()]


def build_program():
    """The buffers, and a function that emits the program's operations in order."""
    chains = []
    for c in range(CHAINS):
        chain = Chain()
        chain.position = wp.full(SIZE, 1.0 + c, dtype=float, device=device)
        chain.velocity = wp.zeros(SIZE, dtype=float, device=device)
        chains.append(chain)
    table = wp.zeros((CHAINS, SIZE), dtype=float, device=device)
    tensor = wp.to_torch(table)
    mean = torch.zeros(CHAINS, device=tensor.device)

    def emit():
        for c, chain in enumerate(chains):
            for _ in range(4):
                yield launch(kick, SIZE, [chain, 8], device=device)
                yield launch(drift, SIZE, [chain, 8], device=device)
            yield launch(gather, SIZE, [chain], [table[c]], device=device)
        yield call(lambda: torch.mean(tensor, dim=1, out=mean), reads=[tensor], writes=[mean], device=device)

    return emit, mean


def main():
    results = []
    for name in names:
        if name == "graph" and device.is_cpu:
            continue
        emit, mean = build_program()
        scheduler = create(name, device)
        for _ in range(3):  # record, and on CUDA capture
            scheduler.run("chains", emit)
        wp.synchronize_device(device)
        begin = time.perf_counter()
        for _ in range(20):
            scheduler.run("chains", emit)
        wp.synchronize_device(device)
        print(f"{(time.perf_counter() - begin) / 20 * 1e6:8.0f} us a run, {scheduler.report()}\n")
        results.append(mean.cpu())
    assert all(torch.equal(result, results[0]) for result in results), "all schedulers give the same bits"


if __name__ == "__main__":
    main()
