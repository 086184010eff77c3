"""Suite `repositories`: questions to whole repositories in many languages, judged by file.

The data is a folder in the format of semble's public benchmark: `repos.json` (`name`, `language`),
`annotations/NAME.json` (`query`, `relevant` and `secondary` files, `category`) and `sources.tar.zst` with the sources
of each repository below `NAME/`. A folder `sources` with the unpacked archive replaces it. Each repository is indexed
separately and files are ranked (`SearchRequest.by_file`). `ndcg_at_10` counts every named file once; the average is the
mean over repositories, as semble publishes it. The details name the repositories that are checkouts of other revisions
than `repos.json` names.

*Source*: https://github.com/MinishLab/semble (MIT).
"""

from __future__ import annotations

import json
import tarfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from codesearch.errors import ConfigError, MissingExtraError
from codesearch.evaluation.data import Qrels, QueryScores, Run, query_id
from codesearch.evaluation.judge import (
    DEFAULT,
    BenchOptions,
    Collection,
    Questions,
    Tree,
    judge,
)
from codesearch.evaluation.metrics import ndcg
from codesearch.evaluation.result import SuiteResult, commit_of
from codesearch.files import scratch_folder

METRIC, DEPTH = "ndcg_at_10", 10
PUBLISHED = {
    METRIC: {"ripgrep": 0.126, "grepai": 0.561, "ColGREP": 0.693, "CodeRankEmbed": 0.765, "semble": 0.854}
}
"""Over all 63 repositories of the benchmark, as semble's documentation has them."""
ARCHIVE, UNPACKED = "sources.tar.zst", "sources"
_MAX_WINDOW = 2**27
"""Bytes that zstandard may need to unpack an archive; archives of similar trees are packed with a large window."""


def run(data: Path, options: BenchOptions) -> SuiteResult:
    """Run the suite."""
    listed = _read(data / "repos.json", "name", "language")
    repositories = {str(found["name"]): str(found["language"]) for found in listed}
    fields = ("query", "relevant", "secondary", "category")
    asked = {name: _read(data / "annotations" / f"{name}.json", *fields) for name in repositories}
    with scratch_folder(options.home) as scratch:
        sources = sources_of(data, scratch, options)
        others = [str(found["name"]) for found in listed if _is_other_revision(sources, found)]
        trees = [_tree(sources / name, name, asked[name]) for name in repositories]
        result = judge("repositories", trees, options)
    by: dict[str, dict[str, list[float]]] = {"language": defaultdict(list), "category": defaultdict(list)}
    scores = result.systems[DEFAULT].queries
    for name, language in repositories.items():
        for question in asked[name]:
            value = scores[query_id(name, question["query"])][METRIC]
            by["language"][language].append(value)
            by["category"][question["category"]].append(value)
    means = {
        f"by_{key}": {name: round(fmean(of), 4) for name, of in found.items()} for key, found in by.items()
    }
    return replace(result, details={**result.details, **means, "not_the_pinned_revision": others})


def _is_other_revision(sources: Path, listed: dict[str, Any]) -> bool:
    """Say whether a repository is a git checkout of another revision than the list names; an archive is never one."""
    found, _, changed = commit_of(sources / str(listed["name"])).partition("-")
    return bool(found) and (bool(changed) or not str(listed.get("revision", "")).startswith(found))


def _read(path: Path, *names: str) -> list[dict[str, Any]]:
    """Read a list of objects with these fields."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read ({error})", "give the folder of the benchmark") from None
    known = isinstance(found, list) and all(
        isinstance(entry, dict) and entry.keys() >= set(names) for entry in found
    )
    if not known:
        raise ConfigError(
            f"{path} is no list of objects with {', '.join(names)}", "give the folder of the benchmark"
        )
    return list(found)


def sources_of(data: Path, scratch: Path, options: BenchOptions) -> Path:
    """Return the folder with the sources of all repositories; unpack it into `scratch` if it is packed."""
    if (data / UNPACKED).is_dir():
        return data / UNPACKED
    with options.clock.stage("unpack"):
        _unpack(data / ARCHIVE, scratch)
    return scratch


def _unpack(archive: Path, folder: Path) -> None:
    try:
        import zstandard
    except ModuleNotFoundError:
        raise MissingExtraError("zstandard") from None
    unpacker = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW)
    try:
        with archive.open("rb") as packed, unpacker.stream_reader(packed) as stream:
            with tarfile.open(fileobj=stream, mode="r|") as files:
                files.extractall(folder, filter="data")
    except (OSError, tarfile.TarError, zstandard.ZstdError) as error:
        raise ConfigError(f"{archive} cannot be unpacked ({error})", "get it again") from None


def _tree(root: Path, name: str, questions: list[dict[str, Any]]) -> Tree:
    def ask(collection: Collection) -> Questions:
        paths = set(collection.keys)
        qrels: Qrels = {}
        for question in questions:
            named = [*question["relevant"], *question["secondary"]]
            files = (str(file["path"] if isinstance(file, dict) else file) for file in named)
            qrels[query_id(name, question["query"])] = {_indexed(file, paths): 1.0 for file in files}
        queries = {query_id(name, question["query"]): question["query"] for question in questions}
        return Questions(queries, lambda run: _scored(run, qrels), qrels)

    return Tree(
        root, ask, lambda file, _: file.path, everything=True, by_file=True, details={"repository": name}
    )


def _scored(run: Run, qrels: Qrels) -> QueryScores:
    return {query: {METRIC: ndcg(run[query], grades, DEPTH)} for query, grades in qrels.items()}


def _indexed(path: str, indexed: set[str]) -> str:
    """Return the indexed path of a judged file, which may be given without its first folders."""
    return next((found for found in sorted(indexed) if found == path or found.endswith(f"/{path}")), path)
