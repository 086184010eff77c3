"""CodeSearchNet's annotated functions exist as documents with exactly their lines."""

import csv
import io
import json
import re
from collections import defaultdict
from itertools import islice
from pathlib import Path

import pytest

from codesearch.config import ParseConfig
from codesearch.languages import language_named
from codesearch.parsing.extract import extract
from codesearch.parsing.walker import refuse_content

DATA = Path(__file__).parents[3] / "shared" / "data" / "csn99"
URL = re.compile(r"https://github.com/([^/]+/[^/]+)/blob/([0-9a-f]+)/(.*)#L(\d+)-L(\d+)")
SHARE = 2_770 / 2_788

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the sources of the benchmark are not here")


def annotated_spans() -> dict[tuple[str, str, str], set[tuple[int, int]]]:
    spans = defaultdict(set)
    with open(DATA / "annotations.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            repo, sha, path, start, end = URL.fullmatch(row["GitHubUrl"]).groups()
            spans[repo, sha, path].add((int(start), int(end)))
    return spans


@pytest.mark.slow
@pytest.mark.parametrize("every", [24, pytest.param(1, marks=pytest.mark.thorough)])
def test_annotated_functions_are_documents_with_exactly_their_lines(every):
    zstandard = pytest.importorskip("zstandard")
    spans = annotated_spans()
    found, missing = 0, []
    with open(DATA / "sources.jsonl.zst", "rb") as packed:
        stream = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), "utf-8")
        for row in map(json.loads, islice(stream, 0, None, every)):
            wanted = spans.get((row["repo"], row["sha"], row["path"]))
            if not wanted:
                continue
            source = row["text"].encode()
            documents = []
            if refuse_content(source, row["language"], ParseConfig()) is None:
                documents = extract(source, row["path"], language_named(row["language"])).documents
            lines = {(document.start_line, document.end_line) for document in documents}
            found += len(wanted & lines)
            missing += [f"{row['repo']}/{row['path']}:{start}-{end}" for start, end in sorted(wanted - lines)]
    assert found / (found + len(missing)) >= SHARE - 0.005 * (every > 1), missing
