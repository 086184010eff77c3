"""The command that adds a package, for each kind of environment."""

import sys
import sysconfig
from pathlib import Path

import pytest

from codesearch import installation
from codesearch.errors import MissingExtraError
from codesearch.installation import how_to_add
from tests.conftest import write_tree

RECEIPT = """\
[tool]
requirements = [
    { name = "codesearch-local", extras = ["cpu", "bench"]%s },
    { name = "tree-sitter-zig", specifier = ">=1,<2" },
    { name = "other", extras = ["a"], git = "https://host/other" },
]
python = "3.12"
"""


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an environment with pip that no other tool manages."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "codesearch-local"))
    monkeypatch.setattr(sys, "executable", "/env/bin/python")
    monkeypatch.setattr(installation, "find_spec", lambda name: name)
    monkeypatch.setattr("importlib.metadata.requires", lambda name: ["tree-sitter-zig>=3"])
    return tmp_path / "codesearch-local"


def test_the_pip_of_the_environment_is_used(prefix):
    assert how_to_add("a", "b") == "run `/env/bin/python -m pip install a b`"


def test_a_path_with_a_space_is_quoted(prefix, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/my env/python")
    assert how_to_add("a") == "run `'/my env/python' -m pip install a`"


def test_an_environment_without_pip_uses_uv(prefix, monkeypatch):
    monkeypatch.setattr(installation, "find_spec", lambda name: None)
    assert how_to_add("a") == "run `uv pip install --python /env/bin/python a`"


def test_conflicting_packages_are_uninstalled_first(prefix):
    assert how_to_add("a", without=["b", "c"]) == (
        "run `/env/bin/python -m pip uninstall b c`, then `/env/bin/python -m pip install a`"
    )


@pytest.mark.parametrize(("base", "flag"), [("", " --break-system-packages"), ("/usr", "")])
def test_pip_gets_a_flag_if_the_system_manages_its_packages(prefix, monkeypatch, base, flag):
    write_tree(prefix, {"EXTERNALLY-MANAGED": ""})
    monkeypatch.setattr(sys, "base_prefix", base or sys.prefix)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(prefix))
    assert how_to_add("a") == f"run `/env/bin/python -m pip install{flag} a`"


def test_pipx_injects_into_the_environment_of_this_name(prefix):
    write_tree(prefix, {"pipx_metadata.json": "{}"})
    assert how_to_add("a", "b") == "run `pipx inject codesearch-local a b`"
    assert how_to_add("a", without=["b"]) == (
        "run `pipx runpip codesearch-local uninstall b`, then `pipx inject codesearch-local a`"
    )


@pytest.mark.parametrize(
    ("source", "tool"),
    [
        ("", "'codesearch-local[cpu,bench]'"),
        (', specifier = "==1.2"', "'codesearch-local[cpu,bench]==1.2'"),
        (', path = "/d/c.whl"', "'codesearch-local[cpu,bench] @ /d/c.whl'"),
    ],
)
def test_a_uv_tool_keeps_its_other_packages(prefix, source, tool):
    write_tree(prefix, {"uv-receipt.toml": RECEIPT % source})
    assert how_to_add("a", "tree-sitter-zig") == (
        "run `uv tool install --with 'other[a] @ git+https://host/other' --with a --with 'tree-sitter-zig>=3' "
        f"{tool}`"
    )


def test_a_uv_tool_loses_the_extra_with_the_conflicting_package(prefix):
    write_tree(prefix, {"uv-receipt.toml": RECEIPT % ""})
    line = how_to_add("onnxruntime-gpu", without=["onnxruntime", "tree-sitter-zig"])
    assert line == (
        "run `uv tool install --with 'other[a] @ git+https://host/other' --with onnxruntime-gpu "
        "'codesearch-local[bench]'`"
    )


def test_an_environment_in_the_uv_cache_is_not_changed(prefix, monkeypatch):
    monkeypatch.setattr(sys, "prefix", "/cache/uv/archive-v0/x1")
    assert how_to_add("a", "b") == "run `uvx --with a --with b --from codesearch-local codesearch`"


def test_a_missing_package_is_an_error_with_its_command(prefix):
    pip = "/env/bin/python -m pip install"
    assert str(MissingExtraError("a")) == f"a is not installed: run `{pip} a`"
    assert str(MissingExtraError("a", "b")) == f"a, b are not installed: run `{pip} a b`"


def test_packages_of_extras_have_the_versions_of_the_extra(prefix, monkeypatch):
    monkeypatch.setattr("importlib.metadata.requires", lambda name: ["a>=1", 'pygls<3,>=2.1; extra == "lsp"'])
    assert how_to_add("pygls", "b") == "run `/env/bin/python -m pip install 'pygls<3,>=2.1' b`"
