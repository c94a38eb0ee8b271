# `make` alone prints the targets. All work happens in .venv, which is built from requirements-dev.lock.

PYTHON ?= python3
# The resolver that writes the lock. It knows all platforms at once; nothing else needs it.
LOCK_TOOL := uv==0.13.9
# More arguments for pytest or the benchmarks: make test ARGS="-k merkle"
ARGS ?=

BIN := .venv/bin
DEPENDENCIES := .venv/.dependencies
PACKAGES := .venv/.packages
MIRRORS := .venv/.mirrors
MIRRORED := $(shell find schemas docs/spec 2>/dev/null)

# An empty value means the same as none.
ifneq ($(strip $(KANSHO_VECTORS)),)
export KANSHO_VECTORS
else
unexport KANSHO_VECTORS
endif

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help venv test test-optimized test-modes lint format demo bench vectors help-pages lock wheels clean

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

venv: $(MIRRORS)  ## build .venv from the lock, both packages editable

$(DEPENDENCIES): requirements-dev.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Kansho needs Python 3.11 or later; name one with: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
		|| { echo "$(PYTHON) cannot make virtual environments: it lacks venv or ensurepip." >&2; \
		     echo "On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	rm -rf .venv
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-dev.lock
	@touch $@

$(PACKAGES): $(DEPENDENCIES) producer/pyproject.toml producer/hatch_build.py consumer/pyproject.toml consumer/hatch_build.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-index --no-build-isolation \
		--editable producer --editable consumer
	@touch $@

# Editable installs read the mirrors inside the packages. Folders count as well: a removed file counts.
$(MIRRORS): $(PACKAGES) $(MIRRORED)
	$(BIN)/python producer/hatch_build.py
	$(BIN)/python consumer/hatch_build.py
	@touch $@

test: venv  ## run the suite
	$(BIN)/python -m pytest -n auto $(ARGS)

# By environment, not by -O and -W: the workers of pytest-xdist inherit the one and not the other.
test-optimized: venv  ## run the suite under -O with warnings as errors
	PYTHONOPTIMIZE=1 PYTHONWARNINGS=error $(BIN)/python -m pytest -n auto $(ARGS)

test-modes: test test-optimized  ## both of these

lint: venv  ## ruff, mypy and the import contracts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy producer/hatch_build.py
	$(BIN)/mypy consumer/hatch_build.py
	$(BIN)/lint-imports

format: venv  ## format the code and mend what ruff can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

demo: venv  ## publish, ask and verify in a temporary folder
	$(BIN)/kansho-sign demo

bench: venv  ## run the benchmarks
	$(BIN)/python -m benchmarks $(ARGS)

vectors: venv  ## rebuild tests/vectors from the fixed test keys
	$(BIN)/python -m tests.vectors.build

help-pages: venv  ## rewrite docs/commands.md from the programs' help
	$(BIN)/python -m tests.support.help_pages

lock:  ## resolve the dependencies anew (ARGS=--upgrade: to the newest)
	rm -rf build
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check '$(LOCK_TOOL)'
	build/lock/bin/uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command 'make lock' --group dev $(ARGS) \
		--output-file requirements-dev.lock producer/pyproject.toml consumer/pyproject.toml
	rm -rf build

wheels: venv  ## build the sdist and the wheel of both packages into dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist producer
	$(BIN)/python -m build --no-isolation --outdir dist consumer

clean:  ## remove everything that these targets made
	rm -rf .venv build dist .coverage htmlcov .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	rm -rf producer/src/kansho_sign/schemas producer/src/kansho_sign/documentation consumer/src/kansho_verify/schemas
	find producer consumer tests -name __pycache__ -type d -prune -exec rm -rf {} +
