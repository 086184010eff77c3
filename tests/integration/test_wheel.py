"""The wheel in environments that have only its declared dependencies."""

import os
import re
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path
from zipfile import Path as ZipPath
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from codesearch.languages.records import LANGUAGES
from tests.command import ROOT, TIMEOUT
from tests.conftest import TINY_REPO, write_tree

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Installed:
    """The command of an environment outside of the repository."""

    environment: Path
    folder: Path

    def __call__(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        command = [str(self.environment / "bin" / "codesearch"), *map(str, arguments)]
        return self.run(*command)

    def python(self, code: str) -> str:
        return self.run(str(self.environment / "bin" / "python"), "-c", code).stdout

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**variables, "HOME": str(self.folder), "CODESEARCH_HOME": str(self.folder / "home")},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, timeout=TIMEOUT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory) -> Path:
    """An environment with the wheel and what it needs."""
    environment = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(environment, symlinks=True)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", "--no-compile", str(wheel)], check=True)
    link(needed(metadata_of(wheel), set()), environment)
    return environment


@pytest.fixture(scope="module", params=["", "cpu"], ids=["base", "cpu"])
def installed(request, environment, wheel, tmp_path_factory) -> Iterator[Installed]:
    """The command of the environment, with what an extra needs."""
    folder = tmp_path_factory.mktemp("folder")
    write_tree(folder / "tiny", TINY_REPO)
    links = link(needed(metadata_of(wheel), {request.param}), environment)
    yield Installed(environment, folder)
    for path in links:
        path.unlink()


only_base = pytest.mark.parametrize("installed", [""], ids=["base"], indirect=True)


def metadata_of(wheel: Path) -> Distribution:
    (info,) = (path for path in ZipPath(wheel).iterdir() if path.name.endswith(".dist-info"))
    return PathDistribution(info)


def needed(root: Distribution, extras: set[str]) -> Iterator[Distribution]:
    """Yield the direct and indirect dependencies of a distribution, as installed here."""
    seen = set()
    waiting = [(root, extras)]
    while waiting:
        wants, extras = waiting.pop()
        for requirement in map(Requirement, wants.requires or ()):
            applies = not requirement.marker or any(
                requirement.marker.evaluate({"extra": extra}) for extra in {"", *extras}
            )
            if applies and requirement.name not in seen:
                seen.add(requirement.name)
                found = distribution(requirement.name)
                assert found.version in requirement.specifier
                waiting.append((found, requirement.extras))
                yield found


def link(distributions: Iterable[Distribution], environment: Path) -> list[Path]:
    """Link distributions of this environment into another; return the new links."""
    folder = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
    links = []
    for wanted in distributions:
        for name in {file.parts[0] for file in wanted.files or ()} - {"..", "__pycache__"}:
            if not (folder / name).exists():
                (folder / name).symlink_to(wanted.locate_file(name))
                links.append(folder / name)
    return links


def test_only_declared_dependencies_can_be_imported(installed, request):
    absent = ("pytest", "hnswlib", "zstandard", "torch", "training", "tests")
    code = f"import importlib.util as u; print([n for n in {absent!r} if u.find_spec(n)])"
    assert installed.python(code) == "[]\n"
    runtime = "import importlib.util as u; print(u.find_spec('onnxruntime') is not None)"
    assert installed.python(runtime) == f"{'cpu' in request.node.name}\n"
    package = installed.python("import codesearch; print(codesearch.__file__)")
    assert package.startswith(str(installed.environment))


def test_every_file_of_the_package_is_in_the_wheel(wheel):
    paths = (path for path in (ROOT / "codesearch").rglob("*") if path.is_file())
    files = {path.relative_to(ROOT).as_posix() for path in paths if path.parent.name != "__pycache__"}
    with ZipFile(wheel) as packed:
        assert files == {name for name in packed.namelist() if name.startswith("codesearch/")}


def test_a_folder_is_indexed_and_searched(installed):
    done = installed("index", "tiny")
    assert (done.returncode, done.stderr) == (0, "")
    assert "tiny: 13 documents from 6 files" in done.stdout
    done = installed("query", "--all", "convert an integer to text", "-k", "1", "--vimgrep")
    assert (done.stdout, done.stderr) == (
        "tiny/python/convert.py:4:1:def int_to_string(number: int) -> str\n",
        "",
    )


@only_base
def test_doctor_finds_nothing_wrong_and_every_grammar_with_its_query(installed):
    done = installed("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^ok    model        nbow\S* \(\w{16}\), \d+ dimensions, MIT$", done.stdout, re.M)
    (grammars,) = re.findall(r"^ok    grammars     (.*)", done.stdout, re.M)
    assert [grammar.split(" ")[0] for grammar in grammars.split(", ")] == [spec.name for spec in LANGUAGES]


def test_the_page_of_a_package_index_has_no_broken_links(wheel):
    text = metadata_of(wheel).metadata.get_payload()
    assert "# codesearch" in text and "## Install" in text
    assert re.findall(r"\]\((?!https?:)[^)]*\)", text) == []


@only_base
def test_the_program_that_uvx_runs_indexes_a_checkout_and_answers(installed, tmp_path):
    write_tree(tmp_path / "checkout", {**TINY_REPO, ".git/HEAD": ""})
    program = installed.environment / "bin" / "codesearch-local"  # It has the name of the distribution.
    query = f'CODESEARCH_HOME={tmp_path}/home exec {program} query "convert an integer to text"'
    done = installed.run("sh", "-c", f"cd {tmp_path}/checkout && {query}")
    assert re.fullmatch(rf"indexed {tmp_path}/checkout: 13 documents in \d+\.\d s\n", done.stderr)
    assert done.stdout.startswith("python/convert.py:4-6 int_to_string\n")
