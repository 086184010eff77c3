"""Source trees under a corpus folder -> `rows/LANGUAGE.PARTITION.jsonl.zst` and `rows/stats.json`.

The product's parser reads the files in worker processes. The rows of each language go through a file on disk, because
the caps and the split need the counts of all rows. The order does not depend on the workers.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path

from tqdm import tqdm

from codesearch.evaluation.data import read_lines
from training.corpus.archives import is_wanted
from training.corpus.decontaminate import Forbidden, allowed, read_forbidden
from training.corpus.dedupe import NearDuplicates, sketch_of
from training.corpus.fetch import MARKER, FetchedPackage, read_marker
from training.corpus.parse import ParsedFile, SourceFile, parse_file
from training.corpus.recipe import SourcePackage
from training.corpus.rows import PARTITIONS, write_lines
from training.corpus.split import HELD_OUT_RULE, Place, place_rows, stable_hash
from training.corpus.stats import CorpusStats, LanguageStats, peak_rss_bytes, write_stats
from training.files import TrainingError

_log = logging.getLogger(__name__)
MAX_FILES = 2_500
_MAX_FILE_BYTES = 3_000_000
_UNPLACED = b'"partition": ""}\n'


def extract_corpus(
    packages: Sequence[SourcePackage], corpus: Path, evaluation_sets: Path | None, *, processes: int
) -> CorpusStats:
    """Write the rows of every fetched package and their statistics; return the statistics."""
    started = time.perf_counter()
    fetched = {package: found for package in packages if (found := read_marker(corpus / package.folder))}
    if not fetched:
        raise TrainingError(f"{corpus}: no package of the recipe: give the --recipe of `corpus fetch`")
    _warn_of_others(packages, corpus)
    languages = {}
    with get_context("spawn").Pool(processes) as pool:
        forbidden = read_forbidden(evaluation_sets, pool)
        kept = allowed(fetched, forbidden)
        for language in sorted({package.language for package in kept}):
            chosen = {package: fetched[package] for package in kept if package.language == language}
            languages[language] = _extract_language(chosen, corpus, forbidden, pool)
    stats = CorpusStats(
        languages=languages,
        wall_s=round(time.perf_counter() - started, 1),
        download_bytes=sum(found.download_bytes for found in fetched.values()),
        peak_rss_bytes=peak_rss_bytes(),
    )
    write_stats(corpus, stats)
    return stats


def _warn_of_others(packages: Sequence[SourcePackage], corpus: Path) -> None:
    """Warn if the corpus folder has packages of another recipe."""
    chosen = {corpus / package.folder for package in packages}
    others = [path.parent for path in corpus.glob(f"packages/*/*/{MARKER}") if path.parent not in chosen]
    if others:
        _log.warning("%d fetched packages are not chosen and left out, such as %s", len(others), min(others))


def _extract_language(
    packages: Mapping[SourcePackage, FetchedPackage], corpus: Path, forbidden: Forbidden, pool: Pool
) -> LanguageStats:
    language = next(iter(packages)).language
    files = _files(packages, corpus)
    tally = _Tally()
    parsed = tqdm(pool.imap(parse_file, files, chunksize=16), total=len(files), unit="file", desc=language)
    unplaced = corpus / "rows" / f"{language}.unplaced.jsonl.zst"
    write_lines(unplaced, _kept_lines(parsed, forbidden, tally))
    partitions = place_rows(tally.places)
    tally.dropped["over its repository's share"] += partitions.count("")
    for partition in PARTITIONS:
        chosen = (
            line.removesuffix(_UNPLACED) + f'"partition": "{partition}"}}\n'.encode()
            for line, its in zip(read_lines(unplaced), partitions, strict=True)
            if its == partition
        )
        write_lines(corpus / "rows" / f"{language}.{partition}.jsonl.zst", chosen)
    unplaced.unlink()
    if missing := [partition for partition in PARTITIONS if partition not in partitions]:
        _log.warning("%s: no rows for %s: %s", language, " and ".join(missing), HELD_OUT_RULE)
    return LanguageStats(
        documented=len(partitions) - partitions.count(""),
        all=tally.functions,
        partitions={partition: partitions.count(partition) for partition in PARTITIONS},
        packages=len(packages),
        files=len(files),
        source_bytes=tally.source_bytes,
        dropped=dict(tally.dropped.most_common()),
    )


class _Tally:
    """Counts over the rows of a language."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.dropped: Counter[str] = Counter()
        self.functions = 0
        self.source_bytes = 0


def _kept_lines(parsed: Iterator[ParsedFile], forbidden: Forbidden, tally: _Tally) -> Iterator[bytes]:
    """Yield the lines of new functions that are in no evaluation set."""
    seen: set[bytes] = set()
    near = NearDuplicates()
    for each in parsed:
        package = each.file.package
        tally.dropped.update(each.dropped)
        tally.source_bytes += each.size
        new = set(each.undocumented) - seen
        seen |= new
        tally.functions += len(new)
        for line, found in each.candidates:
            sketch = sketch_of(found.tokens)
            reason = forbidden.reason(package.repository, package.language, found.keys, sketch)
            is_same = not seen.isdisjoint(found.keys)
            tally.functions += not is_same
            seen.update(found.keys)
            if not reason:
                reason = "duplicate" if is_same else "near-duplicate" if near.has(sketch) else ""
            if reason:
                tally.dropped[reason] += 1
                continue
            near.add(sketch)
            tally.places.append(
                Place(
                    package.repository.lower(),
                    stable_hash(f"{each.file.relative}\0{line!r}"),
                    package.train_only,
                )
            )
            yield line


def _files(packages: Mapping[SourcePackage, FetchedPackage], corpus: Path) -> list[SourceFile]:
    """List the files to parse: at most `MAX_FILES` per repository, chosen by hash, because its rows are capped anyway.

    Larger files are skipped, because they are bundles of other files, or generated.
    """
    by_repository: dict[str, list[SourceFile]] = defaultdict(list)
    for package, fetched in packages.items():
        root = corpus / package.folder
        url = package.url(fetched.version)
        for path in sorted(root.rglob("*")):
            relative = path.relative_to(root).as_posix()
            size = path.stat().st_size if path.is_file() else _MAX_FILE_BYTES + 1
            if size <= _MAX_FILE_BYTES and is_wanted(relative, size, package.language):
                by_repository[package.repository.lower()].append(SourceFile(package, path, relative, url))
    chosen = []
    for files in by_repository.values():
        kept = sorted(files, key=lambda file: stable_hash(file.relative))[:MAX_FILES]
        chosen += sorted(kept, key=lambda file: (file.package.name, file.relative))
    return chosen
