# Set up, test and run the project from a checkout. `make` lists the targets.

PYTHON ?= python3
VENV ?= .venv
CONSTRAINTS ?= constraints.txt
WANTED ?= -e '.[train,human,openspiel]' --group dev

BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip
PYTEST := $(BIN)/python -m pytest
# One install at a time, also when two makes run in the same checkout (where there is flock).
LOCK := $(if $(shell command -v flock),flock $(VENV).lock)

.DEFAULT_GOAL := help
NAME ?= bestia-4
GAME ?= bestia
A ?= knock if trumps >= 2
B ?= knock if trumps >= 2 or top_trump >= re; else exchange if knocks == 0
PORT ?= 8000
export A B GAME # the shell reads them from its environment, whatever characters they hold

.PHONY: help install demo compare play charts cards reproduce measure league test test-slow test-frameworks test-agilerl install-rllib test-rllib test-release test-nojit test-boundscheck differential check bench docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-17s %s\n", $$1, $$2}' Makefile

install: ## make the virtual environment, with the versions of constraints.txt
	@$(LOCK) $(MAKE) -s $(STAMP)

# The venv's pip is upgraded first: dependency groups need pip 25.1, new machines have older ones.
# Debian without python3-venv makes venvs only without pip; there the system's pip installs it.
# No build isolation: the build then uses the pinned setuptools instead of the newest.
# setuptools warns of every editable install with this layout; here it is meant. The checkout is a
# path too, since Python would otherwise take a clone's folder in the working folder for the package.
$(STAMP): pyproject.toml $(CONSTRAINTS)
	@echo "Installing into $(VENV): a few minutes the first time"
	$(PIP) --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV) || { \
	    $(PYTHON) -m venv --without-pip $(VENV) && \
	    $(PYTHON) -m pip --python $(BIN)/python install -q -c $(CONSTRAINTS) pip; }
	$(PIP) install -q -c $(CONSTRAINTS) --upgrade pip setuptools
	PYTHONWARNINGS='ignore:Editable installation' \
	    $(PIP) install -q -c $(CONSTRAINTS) --no-build-isolation $(WANTED)
	pwd >"$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/checkout.pth"
	touch $@
	@echo "Done. To use it: source $(VENV)/bin/activate"

demo: install ## train a learner, play it against the baselines, print and save the table
	$(BIN)/python -m experiments.demo

compare: install ## two strategies or bidding rules of your own on the same deals (A="…" B="…" GAME=bestia)
	$(BIN)/python -m experiments.strategies compare --game "$$GAME" "$$A" "$$B"

play: install ## sit at a table in the browser, among any policies (PORT=8000)
	$(BIN)/python -m experiments.play --port $(PORT)

charts: install ## strategy charts of the shipped policies, to print
	$(BIN)/python -m experiments.strategies charts --jobs 2

cards: install ## model cards of all that is shipped, from the files and their measurements
	$(BIN)/python -m experiments.model_cards

reproduce: install ## train a shipped policy anew (NAME=bestia-4) and compare
	$(BIN)/python -m experiments.reproduce $(NAME)

measure: install ## the shipped policies against every baseline, at pots of 1, 2, 4 and 8
	$(BIN)/python -m experiments.measure_shipped --jobs 2

league: install ## train a learner by every algorithm; play learners, search, solved bids, baselines
	$(BIN)/python -m experiments.league

test: install ## all tests but the slow ones; rules also without JIT and with bounds checks
	$(PYTEST) -n auto --dist loadfile
	$(MAKE) test-nojit
	$(MAKE) test-boundscheck

test-slow: install ## the slow tests
	$(PYTEST) -n auto -m slow

test-frameworks: ## recipes for TorchRL, Tianshou, SuperSuit, in .venv-frameworks
	$(MAKE) install VENV=.venv-frameworks CONSTRAINTS=constraints-frameworks.txt \
	    WANTED="-e '.[frameworks]' --group test"
	.venv-frameworks/bin/python -m pytest -m frameworks tests/experiments/test_frameworks.py

# AgileRL refuses the PettingZoo that this project needs, so pip may not weigh the two together.
test-agilerl: ## the recipe for AgileRL, in .venv-agilerl
	$(MAKE) install VENV=.venv-agilerl CONSTRAINTS=constraints-agilerl.txt \
	    WANTED="-r experiments/examples/agilerl.txt --group test"
	.venv-agilerl/bin/python -m pip install -q --no-deps pettingzoo==1.27.0
	.venv-agilerl/bin/python -m pytest -m frameworks tests/experiments/test_agilerl.py

test-release: install ## the wheel in new environments, as users without rights or a home have it
	$(PYTEST) -m release tests/test_release.py

install-rllib: ## make .venv-rllib, with Ray, for experiments.train_rllib and the arena's --backend ray
	$(MAKE) install VENV=.venv-rllib CONSTRAINTS=constraints-rllib.txt \
	    WANTED="-e '.[train,rllib]' --group test"

test-rllib: install-rllib ## training and tournaments on Ray, on a cluster of several nodes too
	.venv-rllib/bin/python -m pytest -m rllib \
	    tests/experiments/test_rllib.py tests/experiments/test_ray_cluster.py

test-nojit: install ## the rules as plain Python
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n auto tests/rules

# A cache of its own, because numba would run cached code that was compiled without the checks.
test-boundscheck: install ## the rules with every array index checked
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR="$(CURDIR)/.cache/numba-boundscheck" \
	    $(PYTEST) -n auto tests/rules tests/test_differential.py

differential: install ## a million hands against the reference implementation
	$(BIN)/python -m tests.differential --hands 1000000

check: install ## lint, format, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: install ## speed, as JSON
	$(BIN)/python -m experiments.benchmark

docs: install ## the documentation as HTML, into docs/_build/html; a few minutes the first time
	$(PIP) install -q -c constraints.txt --group docs
	$(BIN)/python -m sphinx -b html -W --keep-going -q -d docs/_build/doctrees docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean: ## remove caches and build products, but neither the environment nor runs/
	rm -rf build dist docs/_build docs/notebooks/*.ipynb *.egg-info .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -path './$(VENV)' -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
