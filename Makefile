# Every command of the project; CI runs these same words and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export NUMBA_CACHE_DIR ?= $(CURDIR)/.cache/numba

.PHONY: serve demo install install-neural install-all check test bench soak clean

serve: $(VENV)/.installed demo
	$(BIN)/python -m app.main

demo: $(VENV)/.installed
	@ls -d models/*/current >/dev/null 2>&1 || { \
	  $(BIN)/python scripts/make_demo.py demo && \
	  $(BIN)/python scripts/train.py demo/train.jsonl --model demo --test demo/test.jsonl; }

install: $(VENV)/.installed
install-neural: $(VENV)/.installed-neural
install-all: $(VENV)/.installed-all

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --editable .
	@touch $@

$(VENV)/.installed-neural: $(VENV)/.installed
	$(BIN)/pip install --quiet --editable '.[neural]'
	@touch $@

$(VENV)/.installed-all: $(VENV)/.installed
	$(BIN)/pip install --quiet --editable '.[neural,parquet,dev]'
	@touch $@

check: $(VENV)/.installed-all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: check
	$(BIN)/python -m pytest

bench: $(VENV)/.installed-all
	$(BIN)/python scripts/bench/run.py $(ARGS)

soak: $(VENV)/.installed-all
	$(BIN)/python scripts/soak/run.py $(ARGS)

clean:
	rm -rf $(VENV) .venv-peers .cache demo
