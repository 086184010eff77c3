"""The statistics of a corpus: `rows/stats.json`, and its tables for a page."""

from __future__ import annotations

import json
import resource
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from training.corpus.rows import PARTITIONS
from training.files import read_json, writing


@dataclass(frozen=True, slots=True)
class LanguageStats:
    """Counts of one language: pairs that were kept, and what each filter dropped.

    `all` is the number of distinct functions that pass the filters on code and name, documented or not.
    """

    documented: int
    all: int
    partitions: dict[str, int]
    packages: int
    files: int
    source_bytes: int
    dropped: dict[str, int]

    @property
    def figures(self) -> list[int]:
        """The numbers of a row of the table."""
        its = [self.partitions[partition] for partition in PARTITIONS]
        return [self.documented, self.all, *its, self.packages, self.source_bytes]


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """Counts of a corpus; `wall_s` is the time of the extraction, `download_bytes` the size of the archives."""

    languages: dict[str, LanguageStats]
    wall_s: float
    download_bytes: int
    peak_rss_bytes: int

    @property
    def dropped(self) -> Counter[str]:
        """How many functions each filter dropped, over all languages."""
        return sum((Counter(figures.dropped) for figures in self.languages.values()), Counter())


def write_stats(corpus: Path, stats: CorpusStats) -> None:
    """Write the statistics, with the sums of dropped functions, to the folder of the rows."""
    fields = {**asdict(stats), "dropped": dict(stats.dropped.most_common())}
    with writing(path := corpus / "rows" / "stats.json"):
        path.write_text(json.dumps(fields, indent=1) + "\n", "utf-8")


def read_stats(corpus: Path) -> CorpusStats:
    """Read the statistics of a corpus."""
    return read_json(CorpusStats, corpus / "rows" / "stats.json", "run `python -m training corpus extract`")


def report(stats: CorpusStats) -> str:
    """Return the counts as Markdown: two tables, and a line with time and size."""
    return "\n".join([*_table(stats), "", *_dropped_table(stats), "", _summary(stats)])


def _table(stats: CorpusStats) -> Iterator[str]:
    """Yield the lines of a Markdown table in the form of CodeSearchNet's Table 1."""
    rows = {name: each.figures for name, each in stats.languages.items()}
    rows["all"] = list(map(sum, zip(*rows.values(), strict=True)))
    yield "| language | with documentation | all | train | valid | test | packages | source |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for name, (*counts, source_bytes) in rows.items():
        yield f"| {name} | {' | '.join(f'{count:,}' for count in counts)} | {source_bytes / 1e6:,.0f} MB |"


def _dropped_table(stats: CorpusStats) -> Iterator[str]:
    """Yield the lines of a Markdown table of the functions that each filter dropped, by language."""
    names = list(stats.languages)
    yield f"| dropped | {' | '.join(names)} | all |"
    yield "|---|" + "--:|" * (len(names) + 1)
    for reason, total in stats.dropped.most_common():
        counts = " | ".join(f"{stats.languages[name].dropped.get(reason, 0):,}" for name in names)
        yield f"| {reason} | {counts} | {total:,} |"


def _summary(stats: CorpusStats) -> str:
    """Return one line with sizes, time, speed and memory.

    >>> _summary(CorpusStats({}, 2.0, 3_000_000, 500_000_000))
    '3 MB of archives; 0 MB of source extracted in 2 s, 0.0 MB/s; 500 MB of memory at the most'
    """
    source = sum(each.source_bytes for each in stats.languages.values()) / 1e6
    return (
        f"{stats.download_bytes / 1e6:,.0f} MB of archives; {source:,.0f} MB of source extracted in "
        f"{stats.wall_s:,.0f} s, {source / stats.wall_s:.1f} MB/s; "
        f"{stats.peak_rss_bytes / 1e6:,.0f} MB of memory at the most"
    )


def peak_rss_bytes() -> int:
    """Return the peak memory of this process or of one of its children, in bytes."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(kind).ru_maxrss for kind in kinds) * 1024
