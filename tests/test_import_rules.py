"""Imports point in one direction, and a command loads no module that it does not need."""

import ast
import os
import re
import subprocess
import sys
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import index_by_engine, settle, write_tree

ROOT = Path(__file__).parents[1]


def allowed_imports() -> tuple[set[str], dict[str, set[str]]]:
    """Read from docs/dev/ARCHITECTURE.md which modules every folder may import, and what each folder may import."""
    section = (ROOT / "docs/dev/ARCHITECTURE.md").read_text("utf-8").split("\n## Imports\n")[1]
    base, *steps = (re.findall(r"\w+", names) for names in section.split("```")[1].split("<-"))
    below, allowed = set(base), dict.fromkeys(base, set(base))
    for names in steps:
        allowed |= dict.fromkeys(names, set(below))
        below.update(names)
    return set(base), allowed


BASE, ALLOWED = allowed_imports()
ALLOWED["service"] = {"errors", "files", "processes"}
"""The packages that each package of codesearch may import, besides itself."""
HEAVY = tuple(
    (
        "codesearch.parsing.ignore numpy numpy.ma numpy.random onnxruntime tokenizers "
        "tree_sitter sqlite3 sqlite_utils hnswlib filelock concurrent.futures multiprocessing "
        "asyncio http.client importlib.metadata watchdog pydantic pymilvus rich pygments mcp "
        "pygls lsprotocol anyio starlette uvicorn"
    ).split()
)
"""Modules that take milliseconds to import. Each test lists those that a command may load."""


def source_files(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@cache
def imported(path: Path) -> list[str]:
    """Return every module that a file imports, at the top or inside a function."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            found += [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found


def packages_of(path: Path) -> set[str]:
    """Return the packages of codesearch that a file imports."""
    parts = [module.split(".") for module in imported(path)]
    return {part[1] for part in parts if part[0] == "codesearch" and len(part) > 1} & ALLOWED.keys()


def test_every_package_has_its_place_in_the_order():
    names = {path.relative_to(ROOT / "codesearch").parts[0] for path in source_files("codesearch")}
    unplaced = {name.removesuffix(".py") for name in names} - {"__init__", "__main__"} - ALLOWED.keys()
    assert not unplaced, f"{unplaced}: add to the list of imports in docs/dev/ARCHITECTURE.md"


@pytest.mark.parametrize("package", ALLOWED)
def test_a_package_imports_only_packages_below_it(package):
    files = [*source_files(f"codesearch/{package}"), *(ROOT / "codesearch").glob(f"{package}.py")]
    for path in files:
        assert packages_of(path) <= ALLOWED[package] | {package}, path


def test_codesearch_never_imports_torch_training_or_exporters():
    for path in source_files("codesearch"):
        tops = {module.partition(".")[0] for module in imported(path)}
        assert not tops & {"torch", "training", "exporters", "benchmarks", "tests", "onnx"}, path


def test_training_imports_only_parsing_text_and_evaluation():
    for path in source_files("training"):
        # The suites of encoders use the BM25F of the product.
        product = {"store", "build", "search"} if path.parent.name == "evaluation" else set()
        assert packages_of(path) <= BASE | {"languages", "parsing", "text", "evaluation"} | product, path
        assert not {module.partition(".")[0] for module in imported(path)} & {"exporters", "benchmarks"}, path


def test_exporters_import_only_training_and_the_encoder():
    for path in source_files("exporters"):
        assert packages_of(path) <= BASE | {"text"}, path


def test_no_modules_import_each_other_in_a_circle():
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in source_files("codesearch")
    }
    modules = {name: path for name, path in modules.items() if not name.endswith("__init__")}
    imports = {name: {m for m in imported(path) if m in modules} for name, path in modules.items()}
    while leaves := {name for name, needs in imports.items() if not needs}:
        imports = {name: needs - leaves for name, needs in imports.items() if name not in leaves}
    assert imports == {}


def loaded_after(code: str, *arguments: object) -> set[str]:
    """Run code in a fresh interpreter and return which heavy modules it loaded."""
    script = f"{code}\nprint('LOADED', *sorted(set(sys.modules) & {set(HEAVY)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{script}", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split()[1:])


RUN = """
from codesearch.cli.main import run
assert run(sys.argv[1:]) == 0
"""


def test_the_command_line_starts_without_heavy_modules():
    assert loaded_after("from codesearch.cli.main import make_command; make_command()") == set()


def test_help_loads_no_heavy_modules():
    assert loaded_after(RUN, "--help") == set()


def test_checking_that_an_index_is_up_to_date_needs_neither_numpy_nor_a_model(tmp_path, tiny_bundle):
    write_tree(tmp_path / "src", {"a.py": "def f():\n    pass\n"})
    arguments = ("index", tmp_path / "src", "--home", tmp_path / "home", "--model", tiny_bundle)
    assert {"numpy", "onnxruntime"} <= loaded_after(RUN, *arguments)
    assert loaded_after(RUN, *arguments) == {"sqlite3", "codesearch.parsing.ignore"}


def test_a_query_loads_no_parser_and_no_runtime(tmp_path):
    write_tree(tmp_path / "src", {"a.py": "def f():\n    pass\n"})
    home = ("--home", tmp_path / "home")
    index_by_engine(tmp_path / "src", tmp_path / "home")
    settle(tmp_path / "src", tmp_path / "home")
    assert loaded_after(RUN, "query", "--all", "read a file", *home) == {"numpy", "sqlite3"}
    # The tokenizer library is loaded to split an unknown word into pieces.
    assert loaded_after(RUN, "query", "--all", "qzxv", *home) == {"numpy", "tokenizers", "sqlite3"}


def test_a_query_with_an_onnx_model_loads_the_runtime(tmp_path, tiny_bundle):
    write_tree(tmp_path / "src", {"a.py": "def f():\n    pass\n"})
    home = ("--home", tmp_path / "home")
    index_by_engine(tmp_path / "src", tmp_path / "home", tiny_bundle)
    settle(tmp_path / "src", tmp_path / "home")
    assert loaded_after(RUN, "query", "--all", "f", *home) == {"numpy", "onnxruntime", "sqlite3"}
    assert loaded_after(RUN, "query", "--all", "f", "--mode", "lexical", *home) == {"numpy", "sqlite3"}


CLIENT = """
import os
from codesearch.cli.entry import run
from codesearch.service import client
client.DEADLINE_S = 120
os._exit = sys.exit
sys.argv[0] = "codesearch"
try:
    run()
except SystemExit as done:
    assert done.code == 0, done.code
print("LOADED", *sorted(sys.modules))
"""


def test_a_query_that_a_service_answers_loads_only_the_client(indexed, command):
    with command.start("serve", "--no-watch", stdout=subprocess.PIPE) as service:
        try:
            service.stdout.readline()
            asked = [sys.executable, "-c", f"import sys\n{CLIENT}", "query", "--all", "push"]
            done = subprocess.run(
                asked, cwd=command.folder, env=command.environment, capture_output=True, text=True, check=True
            )
            answer, loaded = done.stdout.rsplit("LOADED ", 1)
        finally:
            service.terminate()
    assert "Stack.push" in answer
    modules = set(loaded.split())
    slow = {
        *HEAVY,
        "typer",
        "typing",
        "dataclasses",
        "inspect",
        "pathlib",
        "subprocess",
        "hashlib",
        "logging",
    }
    assert modules & slow == set()
    assert {name for name in modules if name.startswith("codesearch")} == set(
        (
            "codesearch codesearch.cli codesearch.cli.entry codesearch.cli.output codesearch.files "
            "codesearch.service codesearch.service.client"
        ).split()
    )


def test_before_a_service_is_asked_no_socket_is_loaded():
    code = "import codesearch.cli.entry\nassert not {'socket', 'json'} & set(sys.modules)"
    assert loaded_after(code) == set()


def test_every_folder_of_tests_is_collected(pytestconfig):
    """By default, pytest leaves out folders whose name is `build` or `dist`."""
    folders = {path.parent.name for path in (ROOT / "tests").rglob("test_*.py")}
    left_out = pytestconfig.getini("norecursedirs")
    assert [name for name in folders if any(fnmatch(name, pattern) for pattern in left_out)] == []
