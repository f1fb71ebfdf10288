"""Everything that only a GPU can show, in one go: `python benchmarks/gpu.py --out DIR [--parts tests,schedulers,...]`.

Tests that need CUDA, parity with MuJoCo, the scheduler and simulator benchmarks, and a training run; logs and results
are written to the folder as they come.
"""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import tyro

ROOT = Path(__file__).resolve().parent.parent
PARTS = {
    "tests": "-m pytest -q -p no:cacheprovider tests -k cuda --maxfail=20",
    "parity": "benchmarks/parity.py --json {out}/parity.json",
    "schedulers": "benchmarks/schedulers.py --env ant --num-envs 1024,4096,8192"
    " --json {out}/schedulers_ant.json --plot {out}/schedulers_ant.png",
    "mix": "benchmarks/schedulers.py --env ant,half_cheetah,hopper,walker2d --num-envs 128,1024,4096"
    " --json {out}/schedulers_mix.json --plot {out}/schedulers_mix.png",
    "simulators": "benchmarks/simulators.py --env ant --num-envs 1024,4096,8192,32768"
    " --json {out}/simulators.json --plot {out}/simulators.png",
    "bins": "benchmarks/bins.py --env ant,half_cheetah,humanoid --num-envs 1024,4096 --json {out}/bins.json",
    "soak": "benchmarks/soak.py --device cuda --log {out}/soak_h200.log",
    "train": "train.py --env ant --scheduler ace --device cuda --num-envs 4096"
    " --total-steps {steps} --run-dir {out}/ant",
}
for robot in ("half_cheetah", "hopper", "walker2d", "swimmer", "humanoid"):
    PARTS[f"train_{robot}"] = f"train.py --env {robot} --device cuda --run-dir {{out}}/{robot}"
"""Arguments of Python, run in the checkout."""


@dataclass
class Options:
    """Run parts of what only a GPU can show."""

    out: Path
    """Folder for logs and results."""
    parts: str = ",".join(PARTS)
    """Which parts, in order."""
    steps: int = 150_000_000
    """Environment steps of the training run."""
    limit: int = 300
    """Seconds that one part may take."""


def main(options: Options) -> None:
    if unknown := set(options.parts.split(",")) - PARTS.keys():
        raise SystemExit(f"error: --parts {','.join(unknown)}: expected some of {', '.join(PARTS)}")
    options.out.mkdir(parents=True, exist_ok=True)
    for part in options.parts.split(","):
        words = PARTS[part].format(out=options.out, steps=options.steps).split()
        start = time.time()
        with (options.out / f"{part}.log").open("w") as log:
            try:
                command = ["timeout", "-s", "INT", str(options.limit), sys.executable, *words]
                code = subprocess.run(
                    command, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT, env=os.environ
                ).returncode
            except OSError as error:
                code = error
        text = (options.out / f"{part}.log").read_text()
        print(f"== {part}: exit {code}, {time.time() - start:.0f} s\n{text[-1800:]}", flush=True)


if __name__ == "__main__":
    main(tyro.cli(Options))
