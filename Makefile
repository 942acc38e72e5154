# `make demo` and `make test` need Python 3.11 or later, pip and make; nothing else.
PYTHON ?= python3.11
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test lint types contracts clean

demo: $(VENV)/.demo
	$(BIN)/tcva demo

test: $(VENV)/.dev
	RAGAS_DO_NOT_TRACK=true DEEPEVAL_TELEMETRY_OPT_OUT=1 DEEPEVAL_DISABLE_DOTENV=1 \
	  $(BIN)/python -m pytest -n 2

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	@touch $@

# The demo needs the base package alone, so it starts without waiting for four frameworks.
$(VENV)/.demo: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) install --quiet --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@ $(VENV)/.demo

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
