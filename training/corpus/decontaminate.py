"""Evaluation sets -> what must not be trained on: projects, repositories, functions and their near-duplicates.

The folder has `never_train.txt` (a project's name per line), `csn_urls/exclude_repos_test_valid.txt` (a repository per
line), `csn_urls/advtest_dev.txt` (a URL per line), `csn99/sources.jsonl.zst` (whole files),
`cosqa/codebase.python.jsonl.zst` (a function per row) and `ncs/questions.jsonl.zst` (a piece of code and URLs per
row). A warning names each part that is missing.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.pool import Pool
from pathlib import Path

from rensa import RMinHash
from tqdm import tqdm

from codesearch.evaluation.data import read_jsonl
from codesearch.languages import language_named
from codesearch.parsing.extract import extract
from training.corpus.dedupe import Fingerprint, NearDuplicates, fingerprint, sketch_of
from training.corpus.filters import split_docstring
from training.corpus.recipe import SourcePackage
from training.files import TrainingError

REPOSITORY, SAME, NEAR = (
    f"{what} of an evaluation set" for what in ("repository", "function", "near-duplicate")
)
_PROJECTS = "never_train.txt"
_REPOSITORIES = "csn_urls/exclude_repos_test_valid.txt"
_URLS = "csn_urls/advtest_dev.txt"
_FILES = "csn99/sources.jsonl.zst"
_FUNCTIONS = "cosqa/codebase.python.jsonl.zst"
_QUESTIONS = "ncs/questions.jsonl.zst"
_GITHUB = re.compile(r"https://github\.com/([^/\s]+/[^/\s]+)/")
_DEBIAN_PREFIX = re.compile(r"(?:python3?|node|ruby|php|librust|golang|lib)-?")
_DEBIAN_SUFFIX = re.compile(r"-(?:dev|java)$")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Forbidden:
    """The contents of the evaluation sets; names of projects and `owner/name` of repositories are in lower case."""

    projects: frozenset[str] = frozenset()
    repositories: frozenset[str] = frozenset()
    keys: frozenset[bytes] = field(default=frozenset(), repr=False)
    near: dict[str, NearDuplicates] = field(default_factory=dict, repr=False)

    def is_package_of_project(self, package: SourcePackage) -> bool:
        """Return whether a package belongs to one of the projects, by its repository or by its own name.

        >>> forbidden = Forbidden(projects=frozenset({"gin", "nlohmann-json"}))
        >>> forbidden.is_package_of_project(SourcePackage("go", "debian", "golang-github-gin-gonic-gin-dev", "a/b"))
        True
        >>> forbidden.is_package_of_project(SourcePackage("cpp", "github", "x/y", "nlohmann/json"))
        True
        """
        repository, name = package.repository.lower(), package.name.lower()
        stem = _DEBIAN_SUFFIX.sub("", name)
        names = {repository.rpartition("/")[2], repository.replace("/", "-"), *name.split("/"), stem}
        names.add(_DEBIAN_PREFIX.sub("", stem, count=1))
        if stem.startswith("golang-"):
            names.add(stem.rpartition("-")[2])
        return not self.projects.isdisjoint(names)

    def reason(self, repository: str, language: str, keys: Iterable[bytes], sketch: RMinHash) -> str:
        """Return the reason why a function may not be trained on, or "" if it may."""
        if repository.lower() in self.repositories:
            return REPOSITORY
        if not self.keys.isdisjoint(keys):
            return SAME
        return NEAR if language in self.near and self.near[language].has(sketch) else ""


def read_forbidden(folder: Path | None, pool: Pool | None = None) -> Forbidden:
    """Collect the contents of the evaluation sets under `folder`; nothing if it is None."""
    projects = read_projects(folder)
    if folder is None:
        return Forbidden()
    keys: set[bytes] = set()
    near: dict[str, NearDuplicates] = {}
    each_of = partial(pool.imap_unordered, chunksize=50) if pool else map
    texts = tqdm(_sources(folder), unit="text", unit_scale=True, desc="evaluation sets", disable=None)
    for language, found in each_of(_fingerprints, texts):
        for each in found:
            keys.update(each.keys)
            near.setdefault(language, NearDuplicates()).add(sketch_of(each.tokens))
    repositories = frozenset(_repositories(folder))
    counts = len(projects), len(repositories), len(keys)
    _log.info("evaluation sets: %d projects, %d repositories, %d function keys", *counts)
    return Forbidden(projects, repositories, frozenset(keys), near)


def allowed(packages: Collection[SourcePackage], forbidden: Forbidden) -> list[SourcePackage]:
    """Return the packages that belong to no project of an evaluation set; log the others."""
    refused = {package for package in packages if forbidden.is_package_of_project(package)}
    if refused:
        names = ", ".join(sorted(package.key for package in refused))
        _log.warning("%d packages of projects in evaluation sets are left out: %s", len(refused), names)
    return [package for package in packages if package not in refused]


def read_projects(folder: Path | None) -> frozenset[str]:
    """Read the names of the projects in evaluation sets; none if `folder` is None, with a warning."""
    if folder is None:
        _log.warning("no --evaluation-sets: training rows may also be in the sets that you evaluate on")
        return frozenset()
    if folder.is_file():
        raise TrainingError(f"{folder} is a file: give --evaluation-sets the folder of the sets")
    if not _present(folder / _PROJECTS):
        return frozenset()
    lines = (folder / _PROJECTS).read_text("utf-8").lower().splitlines()
    return frozenset(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def _repositories(folder: Path) -> Iterator[str]:
    if _present(folder / _REPOSITORIES):
        yield from (folder / _REPOSITORIES).read_text("utf-8").lower().split()
    if _present(folder / _URLS):
        yield from _GITHUB.findall((folder / _URLS).read_text("utf-8").lower())
    if (folder / _QUESTIONS).exists():
        for _, row in read_jsonl(folder / _QUESTIONS):
            yield from _GITHUB.findall(" ".join(row["examples_url"]).lower())


def _present(path: Path) -> bool:
    if not path.exists():
        _log.warning("%s is absent: not decontaminated against it", path)
        return False
    return True


def _sources(folder: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield the language and text of files and pieces of code, and whether a piece has to be used as a whole."""
    for name, text, is_whole in (
        (_FILES, "text", False),
        (_FUNCTIONS, "code", False),
        (_QUESTIONS, "code", True),
    ):
        if _present(folder / name):
            for _, row in read_jsonl(folder / name):
                yield row["language"], row[text], is_whole


def _fingerprints(source: tuple[str, str, bool]) -> tuple[str, list[Fingerprint]]:
    language, text, is_whole = source
    spec = language_named(language)
    found = [fingerprint(language, "", "", text)] if is_whole else []
    for document in extract(text.encode(), "", spec).documents if spec else []:
        if document.kind != "class":
            paragraph = split_docstring(document.docstring)[0]
            found.append(fingerprint(language, document.name, paragraph, document.code))
    return language, found
