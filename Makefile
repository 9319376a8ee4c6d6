MAKEFLAGS += --no-print-directory
PYTHON ?= python3
ARGS ?=
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Every test process would compile everything anew, whatever this machine prefers otherwise.
export PYTHONDONTWRITEBYTECODE :=

UV := $(shell command -v uv)
DEV := .venv/dev/bin

.DEFAULT_GOAL := help
.PHONY: help demo test check sim tapes queues kill bench lock clean

help: ## show this list
	@awk -F ': .*## ' '/^[a-z]+: .*## / { printf "make %-6s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/demo/ready ## see it work: schedule, send, crash and recover on this machine
	@PYTHONPATH=src .venv/demo/bin/python -m duebook demo $(ARGS)

test: .venv/dev/ready ## run the tests; ARGS="tests/domain -k leap" narrows them
	@$(DEV)/pytest -n 4 --dist worksteal -q $(ARGS)

check: .venv/dev/ready ## lint, format, types, import layers, house rules
	@$(DEV)/ruff check -q
	@$(DEV)/ruff format -q --check
	@$(DEV)/mypy --no-error-summary
	@out=$$($(DEV)/lint-imports --no-logo 2>&1) || { echo "$$out"; exit 1; }
	@$(DEV)/pytest -q --noconftest tests/tidy

sim: .venv/dev/ready ## simulate many more worlds than the tests do: make sim SEEDS=20000
	@DUEBOOK_SIM_SEEDS=$(or $(SEEDS),5000) $(DEV)/pytest -n 2 -q tests/sim $(ARGS)

tapes: .venv/dev/ready ## record anew by what each broken engine of the simulation falls
	@$(DEV)/python -m tests.sim.regressions

queues: .venv/dev/ready ## carry ten thousand ids through every broker, two clouds among them
	@DUEBOOK_QUEUE_IDS=$(or $(COUNT),10000) $(DEV)/pytest -n 4 --dist worksteal --timeout 900 -q $(or $(ARGS),tests/queues)

kill: .venv/dev/ready ## kill real workers a hundred times over twenty thousand notifications
	@DUEBOOK_KILLS=$(or $(KILLS),100) DUEBOOK_KILL_COUNT=$(or $(COUNT),20000) $(DEV)/pytest -q -s tests/kill/test_storm.py tests/kill/test_recovery.py $(ARGS)

bench: .venv/bench/ready ## measure, beside other schedulers
	@.venv/bench/bin/python -m bench $(ARGS)

lock: .venv/lock/ready ## lock the dependencies again; ARGS=--upgrade takes newer ones
	@set -e; lock() { name=$$1; shift; echo "requirements/$$name.lock"; \
	  .venv/lock/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
	    --no-annotate $(ARGS) -o requirements/$$name.lock "$$@"; }; \
	lock demo pyproject.toml --group demo; \
	lock dev pyproject.toml --all-extras --group dev; \
	lock bench pyproject.toml --all-extras --group bench; \
	lock lock --group lock

clean: ## remove environments, caches and builds
	@rm -rf .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One environment for each lock, made anew when its lock changes.
.venv/%/ready: requirements/%.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "duebook needs Python 3.11 or newer, and $(PYTHON) is not. Name another: make PYTHON=python3.13 …" >&2; exit 1; }
	@echo "Preparing .venv/$*: once, and again when $< changes." >&2
	@$(PYTHON) -m venv --clear .venv/$*
	@$(call install,$*) --require-hashes -r $<
	@case $* in dev|bench) $(call install,$*) --no-deps --no-build-isolation -e . ;; esac
	@touch $@

install = $(if $(UV),"$(UV)" pip install -q -p .venv/$(1)/bin/python,.venv/$(1)/bin/pip install -qq)
