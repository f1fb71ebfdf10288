# Everything from a fresh checkout: Python 3.11 or newer, make and git are all that is needed.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: train test lint format bench clean

train: .venv/installed  ## train the ant with ACE on the best device found
	$(BIN)/python train.py --env ant --scheduler ace

test: .venv/installed  ## all tests; those that need a GPU are skipped where there is none
	$(BIN)/python -m pytest

lint: .venv/installed  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy acesim_rl scheduler envs agents

format: .venv/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/installed  ## the tables of the README, measured on this machine's CPU
	$(BIN)/python benchmarks/parity.py --device cpu --json benchmarks/results/parity_cpu.json
	$(BIN)/python benchmarks/features.py
	$(BIN)/python benchmarks/schedulers.py --env ant --num-envs 256,1024 --device cpu \
	    --json benchmarks/results/schedulers_ant_cpu.json --plot benchmarks/results/schedulers_ant_cpu.png
	$(BIN)/python benchmarks/schedulers.py --env ant,half_cheetah,hopper,walker2d --num-envs 64,256 --device cpu \
	    --json benchmarks/results/schedulers_mix_cpu.json
	$(BIN)/python benchmarks/simulators.py --env ant --num-envs 1024 --device cpu \
	    --json benchmarks/results/simulators_cpu.json --plot benchmarks/results/simulators_cpu.png

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt setuptools
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -c constraints.txt -e ".[dev,bench]"
	touch $@

clean:
	rm -rf .venv build *.egg-info
