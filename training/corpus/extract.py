"""Source trees under a corpus folder -> `rows/LANGUAGE.PARTITION.jsonl.zst` and `rows/stats.json`.

The product's parser reads the files, worker processes share them; what follows it (duplicates, evaluation
sets, caps, split) is one pass a language, in an order that does not depend on the workers.
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path

from tqdm import tqdm

from codesearch.config import ParseConfig
from codesearch.parsing.extract import extract
from codesearch.parsing.languages import language_named
from training.corpus.archives import is_wanted
from training.corpus.decontaminate import Forbidden, read_forbidden, without_forbidden
from training.corpus.dedupe import without_duplicates
from training.corpus.fetch import MARKER
from training.corpus.filters import to_row
from training.corpus.recipe import SourcePackage
from training.corpus.rows import PARTITIONS, Row, write_rows
from training.corpus.split import REPOSITORY_SHARE, cap_repositories, split, stable_hash

MAX_FILES = 2_500
_MAX_FILE_BYTES = 3_000_000
_MAX_MEAN_LINE = 300
_CONFIG = ParseConfig()


def extract_corpus(
    packages: Sequence[SourcePackage],
    corpus: Path,
    evaluation_sets: Path | None,
    *,
    processes: int,
    repository_share: float = REPOSITORY_SHARE,
) -> dict[str, object]:
    """Write the rows of every fetched package; return the statistics that are also written."""
    started = time.perf_counter()
    fetched = [package for package in packages if (corpus / package.folder / MARKER).exists()]
    stats: dict[str, object] = {}
    with get_context("spawn").Pool(processes) as pool:
        forbidden = read_forbidden(evaluation_sets, pool)
        for language in sorted({package.language for package in fetched}):
            chosen = [package for package in fetched if package.language == language]
            stats[language] = _extract_language(chosen, corpus, forbidden, pool, repository_share)
    result = {"seconds": round(time.perf_counter() - started, 1), "languages": stats}
    (corpus / "rows" / "stats.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return result


def _extract_language(
    packages: Sequence[SourcePackage], corpus: Path, forbidden: Forbidden, pool: Pool, repository_share: float
) -> dict[str, object]:
    language = packages[0].language
    dropped: Counter[str] = Counter()
    found = _parsed(_files(packages, corpus), pool, dropped, language)
    clean = without_duplicates(without_forbidden(found, forbidden, dropped), dropped)
    rows = split(cap_repositories(list(clean), repository_share, dropped))
    counts = {
        partition: write_rows(
            corpus / "rows" / f"{language}.{partition}.jsonl.zst",
            (row for row in rows if row.partition == partition),
        )
        for partition in PARTITIONS
    }
    names = {
        partition: sorted({row.package for row in rows if row.partition == partition})
        for partition in PARTITIONS
    }
    return {"pairs": counts, "dropped": dict(dropped.most_common()), "packages": names}


def _files(packages: Iterable[SourcePackage], corpus: Path) -> list[tuple[SourcePackage, Path, str]]:
    """List what to parse: of each repository at most `MAX_FILES`, chosen by hash, for it is capped anyway.

    Larger files are bundles of others, or generated.
    """
    by_repository: dict[str, list[tuple[SourcePackage, Path, str]]] = defaultdict(list)
    for package in packages:
        root = corpus / package.folder
        for path in sorted(root.rglob("*")):
            relative = path.relative_to(root).as_posix()
            size = path.stat().st_size if path.is_file() else _MAX_FILE_BYTES + 1
            if size <= _MAX_FILE_BYTES and is_wanted(relative, size, package.language):
                by_repository[package.repository.lower()].append((package, path, relative))
    return [
        file
        for files in by_repository.values()
        for file in sorted(files, key=lambda file: stable_hash(file[2]))[:MAX_FILES]
    ]


def _parsed(
    files: list[tuple[SourcePackage, Path, str]], pool: Pool, dropped: Counter[str], language: str
) -> Iterator[Row]:
    results = pool.imap(rows_of_file, files, chunksize=32)
    for rows, reasons in tqdm(results, total=len(files), unit="file", desc=language):
        dropped.update(reasons)
        yield from rows


def rows_of_file(file: tuple[SourcePackage, Path, str]) -> tuple[list[Row], Counter[str]]:
    """Parse one file of a package; return its rows, and how many functions each filter dropped."""
    package, path, relative = file
    source = path.read_bytes()
    spec = language_named(package.language)
    reasons: Counter[str] = Counter()
    if spec is None or len(source) > _MAX_MEAN_LINE * (source.count(b"\n") + 1):
        reasons["minified file"] += 1
        return [], reasons
    rows = []
    for document in extract(source, relative, spec, _CONFIG).documents:
        row = to_row(document, package)
        if isinstance(row, str):
            reasons[row] += 1
        else:
            rows.append(row)
    return rows, reasons
