# Every command of the project; CI runs these same words and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# constraints.txt: the versions that CI ran with, of everything that is installed.
INSTALL := $(BIN)/pip install --quiet --constraint constraints.txt --editable
WORKERS ?= 2
# What the page's tests check accessibility with; they are skipped where there is no npm.
AXE := .cache/npm/axe-core-4.12.1
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --no-loadscope-reorder

.PHONY: serve demo install install-neural install-all check test quick newest bench soak containers cluster clean

serve: $(VENV)/.installed demo
	$(BIN)/labelserve serve

demo: $(VENV)/.installed
	@ls -d models/*/current >/dev/null 2>&1 || { \
	  $(BIN)/labelserve demo && \
	  $(BIN)/labelserve train demo/train.jsonl --model demo --quality fast --test demo/test.jsonl; }

install: $(VENV)/.installed
install-neural: $(VENV)/.installed-neural
install-all: $(VENV)/.installed-all

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(INSTALL) .
	@touch $@

$(VENV)/.installed-neural: $(VENV)/.installed
	$(INSTALL) '.[neural]'
	@touch $@

$(VENV)/.installed-all: $(VENV)/.installed
	$(INSTALL) '.[neural,parquet,dev]'
	@touch $@

check: $(VENV)/.installed-all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(AXE):
	@if command -v npm >/dev/null; then npm install --silent --no-save --prefix $@ axe-core@$(@:.cache/npm/axe-core-%=%); fi

test: check $(AXE)
	$(PYTEST) --durations=20

quick: $(VENV)/.installed-all
	$(PYTEST) -m "not slow"

newest:
	$(PYTHON) scripts/maintenance/newest.py .venv-newest

bench: $(VENV)/.installed-all
	$(BIN)/python scripts/bench/run.py $(ARGS)

soak: $(VENV)/.installed-all
	$(BIN)/python scripts/soak/run.py $(ARGS)

# Needs no environment: what it runs is in containers.
containers:
	$(PYTHON) scripts/containers/run.py $(ARGS)

# As root: it makes network and mount namespaces.
cluster: $(VENV)/.installed-all
	$(BIN)/python scripts/cluster/run.py $(ARGS)

clean:
	rm -rf $(VENV) .venv-peers .venv-peers-neural .venv-newest .cache demo
