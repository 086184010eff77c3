"""The examples in docstrings."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for package in ("codesearch", "training", "exporters", "benchmarks")
    for path in (ROOT / package).rglob("*.py")
    if "sources" not in path.parts and ">>> " in path.read_text("utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_show(name):
    if name.startswith("training"):
        pytest.importorskip("torch")
    found = doctest.testmod(import_module(name))
    assert found.attempted and not found.failed
