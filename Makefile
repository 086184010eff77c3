# Two commands do all set-up on a machine with Python 3.11+ and a C++ compiler: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
STDLIB = $$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
DEMO = CODESEARCH_HOME=build/demo $(BIN)/codesearch

.PHONY: demo test lint clean

demo: $(VENV)/installed
	$(DEMO) index --exclude site-packages "$(STDLIB)"
	$(DEMO) query -k 3 --root "$(STDLIB)" "copy a directory tree"
	$(DEMO) query -k 3 --root "$(STDLIB)" "median of a list of numbers"
	$(DEMO) query -k 3 --root "$(STDLIB)" "parse command line arguments"

test: $(VENV)/installed-test lint
	$(BIN)/pytest -q

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/installed: $(VENV)/python pyproject.toml constraints.txt
	$(INSTALL) -e '.[cpu,hnsw,langs]'
	touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(INSTALL) -e '.[cpu,hnsw,langs,train,dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist
