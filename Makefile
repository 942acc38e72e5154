# `make demo` and `make test` need Python 3.11 or later, pip and make; nothing else.
# PYTHON=... names the interpreter; without it .ci/find-python looks for one.
PYTHON ?=
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check
# TESTS="tests/core tests/stats" runs these alone, SHUFFLE=7 all of them in the order of this seed.
TESTS ?=
SHUFFLE ?=
RUNNER = $(BIN)/python
CHOSEN = -m "not slow"
ENVIRONMENTS = lowest lowest-base newest openai deepeval ray ray-alone harness 3.12 3.13

.PHONY: demo test test-all lint types contracts docs reference long bench levels size release extras web pictures clean \
  test-local-model $(ENVIRONMENTS:%=test-%)

demo: $(VENV)/.demo
	$(BIN)/tcva demo

test: $(VENV)/.dev
	RAGAS_DO_NOT_TRACK=true DEEPEVAL_TELEMETRY_OPT_OUT=1 DEEPEVAL_DISABLE_DOTENV=1 \
	  $(RUNNER) -m pytest -n 2 $(CHOSEN) $(SHUFFLE:%=--shuffle %) $(TESTS)

# All tests, also those marked `slow`, with more random inputs and branch coverage: it fails below the
# floor in pyproject.toml. About five times as long as `make test`.
test-all: RUNNER = $(BIN)/coverage run
test-all: CHOSEN = --hypothesis-profile deep
test-all: test
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# The tests with other versions, each in an environment of its own: see .ci/environment.
$(ENVIRONMENTS:%=test-%):
	PYTHON="$(PYTHON)" .ci/environment $(@:test-%=%) $(TESTS)

# Every form of a verdict with a real small model, which is downloaded: MODEL=0.5b and 1.5b are larger.
test-local-model: $(VENV)/.dev
	PYTHON="$(PYTHON)" VENV="$(VENV)" .ci/local-model

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m benchmarks.sentences --check

types: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports

# The site, in build/docs: a link, an anchor or a name that leads nowhere fails, and nothing is fetched.
docs: $(VENV)/.dev
	$(BIN)/python -m sphinx -W --keep-going -n --quiet docs build/docs
	$(BIN)/python .ci/check_docs.py build/docs

# The same reference as Markdown, in docs/reference, which a code host shows; a test compares it.
reference: $(VENV)/.dev
	$(BIN)/python .ci/reference.py

# What takes long and attacks: servers that fail, killed runs, forged quotes, requests elsewhere, long texts.
long: $(VENV)/.dev
	$(BIN)/python -m benchmarks.attacks
	$(BIN)/python -m benchmarks.evidence
	$(BIN)/python -m benchmarks.non_claims
	$(BIN)/python -m benchmarks.served_attacks
	$(BIN)/python -m benchmarks.silence
	$(BIN)/python -m benchmarks.stalls
	$(BIN)/python -m benchmarks.streaming
	$(BIN)/python -m benchmarks.provider_batches

# Speed beside the frameworks' own metrics in one run, into docs/measurements.md: about 40 minutes on a
# quiet machine. BENCH=--quick is one short round, and leaves the page as it is.
BENCH ?=
bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.bench $(BENCH)

# How often tests find something where there is nothing, and intervals hold the truth, by simulation. SETS=200 is a quick look.
SETS ?= 2000
levels: $(VENV)/.dev
	$(BIN)/python -m benchmarks.levels --sets $(SETS)
	$(BIN)/python -m benchmarks.guarantee --sets $(SETS)
	$(BIN)/python -m benchmarks.guarantee_groups --sets $(SETS)
	$(BIN)/python -m benchmarks.claim_certificates --count $(SETS)

size: $(VENV)/.demo
	$(BIN)/python -m benchmarks.size

# The report's page, from its sources in web/, into the package; with `.ci/web` it is compared.
# Only this needs node and npm: users, and every other target, take the page that is there.
web:
	cd web && npm ci --no-audit --no-fund --silent && node build.mjs

# The pictures of the report in docs/images, taken by a browser.
pictures: $(VENV)/.dev
	$(BIN)/python -m benchmarks.pictures

# Wheel and sdist in dist/, checked: metadata, contents, and the demo from the wheel alone.
release:
	PYTHON="$(PYTHON)" .ci/release

# The wheel with each extra in an empty environment of its own, with the versions that pip picks: five minutes.
# EXTRAS="ragas deepeval" tries these alone.
extras:
	PYTHON="$(PYTHON)" .ci/extras $(EXTRAS)

$(VENV)/.made:
	@python="$(PYTHON)"; test -n "$$python" || python="$$(.ci/find-python)" && \
	  { test -x $(BIN)/python || "$$python" -m venv $(VENV); }
	@touch $@

# The demo needs the base package alone, so it starts without waiting for four frameworks.
$(VENV)/.demo: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) install --quiet --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@ $(VENV)/.demo

clean:
	rm -rf $(VENV) .venv-* build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
