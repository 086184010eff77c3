"""Suite `csn99`: the 99 queries of the CodeSearchNet challenge over the files that its annotators judged.

The data is a folder with `queries.csv`, `annotations.csv` and the sources. These are either unpacked as `sources/` with
`owner/name/commit/path` below, or in `sources.jsonl.zst` with `repo, sha, path, text` in each line.
`python -m training download` makes it.
"""

from __future__ import annotations

from pathlib import Path

from codesearch.errors import ConfigError
from codesearch.evaluation.jsonl import unpacked
from codesearch.evaluation.judge import BenchOptions, Tree, graded_questions, judge
from codesearch.evaluation.qrels import Qrels, document_url, query_id, read_annotations, read_queries
from codesearch.evaluation.result import SuiteResult

QUERIES, ANNOTATIONS, SOURCES, PACK = "queries.csv", "annotations.csv", "sources", "sources.jsonl.zst"
LANGUAGES = ("go", "java", "javascript", "php", "python", "ruby")
PUBLISHED = {
    "ndcg_all": {"ElasticSearch": 0.205, "NBoW": 0.164, "1D-CNN": 0.108, "biRNN": 0.041, "SelfAtt": 0.113},
    "ndcg_within": {"ElasticSearch": 0.337, "NBoW": 0.247, "1D-CNN": 0.252, "biRNN": 0.126, "SelfAtt": 0.211},
}
"""Metric -> system -> average of Husain et al. 2019, over all 6.4 million functions of their corpus."""


def run(options: BenchOptions) -> SuiteResult:
    """Run the suite."""
    folder = data_folder(options)
    root = folder / SOURCES
    with options.clock.stage("unpack"):
        if not root.is_dir():
            if not (folder / PACK).is_file():
                raise ConfigError(
                    f"{folder}: neither {SOURCES} nor {PACK} there",
                    "give --data the folder of the benchmark's data",
                )
            root = unpacked(folder / PACK, options.cache / "csn99-packs", options.on_progress)
    texts = read_queries(folder / QUERIES)
    queries = {query_id(language, text): text for language in LANGUAGES for text in texts}
    questions = graded_questions(queries, judgements(options))
    tree = Tree(
        root, lambda _: questions, lambda file, row: document_url(file.path, row.start_line, row.end_line)
    )
    return judge("csn99", [tree], options)


def judgements(options: BenchOptions) -> Qrels:
    """Read the judgements; this needs no sources."""
    return read_annotations(options.annotations or data_folder(options) / ANNOTATIONS)


def data_folder(options: BenchOptions) -> Path:
    """Return the folder of the data."""
    if not options.data:
        raise ConfigError(
            "the data of csn99 is not here",
            "give --data FOLDER, or download it in a checkout of codesearch with "
            "`python -m training download csn99 --out FOLDER`; `codesearch bench --suite smoke` needs no data",
        )
    for name in (QUERIES, ANNOTATIONS):
        if not (options.data / name).is_file():
            raise ConfigError(
                f"{options.data}: no {name} there",
                "give --data the folder of the benchmark's data, or score with --annotations FILE instead",
            )
    return options.data
