"""Lines out of the middle of functions, pasted as queries: is their function found?

    python -m benchmarks.snippets --data CSN99

Each is asked as it stands and with its function's local variables renamed; as the product embeds pasted code, by the
document graph, and as it would embed words, by the query graph. All functions of all languages compete; a copy of the
function is as good as itself.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from textwrap import dedent

from benchmarks.record import record
from codesearch.analysis.terms import query_terms
from codesearch.evaluation.metrics import DEPTH, reciprocal_rank
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.pack import unpacked
from codesearch.evaluation.pool import FUNCTIONS, Pool, open_pool
from codesearch.evaluation.stages import StageClock
from codesearch.evaluation.suites.csn99 import LANGUAGES, PACK, document_key
from codesearch.search.candidates import AnalysedQuery
from codesearch.search.filters import Filters
from codesearch.search.forms import is_code
from codesearch.search.searcher import MAX_CODE_TERMS, Searcher
from training.corpus.anonymous import anonymised

LINES = 4
_LEAST = 10
"""Functions of fewer lines would be pasted nearly whole."""
_FUNCTIONS = 60
"""Of each language."""
_FUNCTIONS_ALONE = Filters(kinds=FUNCTIONS)


@dataclass(frozen=True, slots=True)
class Snippet:
    """Lines of a function.

    Attributes:
        doc_id: the function.
        text: the lines as they stand.
        renamed: the same lines of the function with other names for its variables.
    """

    doc_id: int
    text: str
    renamed: str


def main() -> None:
    """Draw functions, ask for each, record how well they are found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the 99 queries")
    data = parser.parse_args().data
    with tempfile.TemporaryDirectory() as home:
        options = BenchOptions(home=Path(home), data=data)
        root = unpacked(data / PACK, options.cache, options.on_progress)
        with open_pool(root, options, StageClock(), document_key) as pool:
            found = [snippet for language in LANGUAGES for snippet in draw(pool, root, language)]
            rows = {
                f"{names}, {form}, {mode}": {"mrr": round(mrr(pool, queries, mode, as_code=as_code), 4)}
                for names, queries in (
                    ("as it stands", [(snippet.doc_id, snippet.text) for snippet in found]),
                    ("variables renamed", [(snippet.doc_id, snippet.renamed) for snippet in found]),
                )
                for form, as_code in (("as code", True), ("as words", False))
                for mode in ("hybrid", "semantic")
            }
            taken_for_code = mean(is_code(snippet.text) for snippet in found)
    told = {"functions": len(found), "taken_for_code": round(taken_for_code, 4), "rows": rows}
    record("snippets", told, flat=True)


def draw(pool: Pool, root: Path, language: str) -> list[Snippet]:
    """Draw functions of a language whose variables can be renamed, by a fixed seed."""
    files = [file for file in pool.index.files if file.language == language]
    documents = [
        (file.path, file.first_doc + number, row)
        for file in files
        for number, row in enumerate(pool.index.store.document_rows(file.first_doc, file.doc_count))
        if row[0] in FUNCTIONS
    ]
    random.Random(0).shuffle(documents)
    found: list[Snippet] = []
    for path, doc_id, (_, name, _, _, _, first, last, *_) in documents:
        if len(found) == _FUNCTIONS:
            break
        lines = (root / path).read_text("utf-8", "replace").split("\n")[first - 1 : last]
        code = dedent("\n".join(lines)).strip()
        pieces = [list(middle(text)) for text in (code, anonymised(code, language, name) or "")]
        if len(pieces[0]) == LINES == len(pieces[1]) and pieces[0] != pieces[1]:
            found.append(Snippet(doc_id, *("\n".join(piece) for piece in pieces)))
    return found


def middle(code: str) -> Iterator[str]:
    r"""Yield the lines around the middle of a function that is long enough.

    >>> list(middle("\n".join("abcdefghijkl")))
    ['e', 'f', 'g', 'h']
    """
    lines = [line for line in code.split("\n") if line.strip()]
    if len(lines) >= _LEAST:
        start = (len(lines) - LINES) // 2
        yield from lines[start : start + LINES]


def mrr(pool: Pool, queries: list[tuple[int, str]], mode: str, *, as_code: bool) -> float:
    """Ask each query; return the mean of 1 / rank of its function, 0 beyond the first 300."""
    searcher = Searcher([pool.index], pool.encoder)
    texts = [digest.hex() for digest in pool.index.store.text_digests()]
    ranks = []
    for doc_id, text in queries:
        vector = searcher.document_vector(text) if as_code else pool.encoder.encode_queries([text])[0]
        terms = query_terms(text)[:MAX_CODE_TERMS] if mode == "hybrid" else ()
        ranked = searcher.pool(AnalysedQuery("", terms, vector, pasted=as_code), _FUNCTIONS_ALONE).ranked(
            DEPTH
        )
        ranks.append(reciprocal_rank([texts[place.doc_id] for place in ranked], {texts[doc_id]}))
    return mean(ranks)


if __name__ == "__main__":
    main()
