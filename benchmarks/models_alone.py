"""How models alone order the functions that people judged: no index, no keywords, nothing else competes.

    python -m benchmarks.models_alone --csn99 DIR --cosqa DIR MODEL...

A model is a bundle, or a folder of sentence-transformers. Of the 99 queries the judged functions that were extracted
are ranked; of CoSQA each question's answer among all answers and 800 other functions. What a model could add is known
so in minutes, before it is trained on, exported or indexed with.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.record import record
from codesearch.config import ParseConfig
from codesearch.encoding.bundle import MANIFEST
from codesearch.encoding.encoder import OnnxEncoder
from codesearch.encoding.text import document_text
from codesearch.evaluation.download import ANNOTATIONS
from codesearch.evaluation.jsonl import field, one_file, read_jsonl
from codesearch.evaluation.metrics import ndcg
from codesearch.evaluation.qrels import Qrels, QueryId, document_url, judged, read_annotations, url_path
from codesearch.evaluation.result import summarise
from codesearch.evaluation.suites import cosqa
from codesearch.evaluation.suites.csn99 import PACK
from codesearch.parsing.extract import extract
from codesearch.parsing.languages import language_named

_DISTRACTORS = 800
_MAX_TOKENS = 96
"""Of a document, for folders of sentence-transformers; a bundle has its own limit."""

Embed = Callable[[Sequence[str]], NDArray[np.float32]]


def main() -> None:
    """Embed what is judged by each model, rank it, record how well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--csn99", type=Path, required=True, help="folder of the 99 queries")
    parser.add_argument("--cosqa", type=Path, required=True, help="folder of CoSQA")
    parser.add_argument("models", type=Path, nargs="+", help="bundles, or folders of sentence-transformers")
    arguments = parser.parse_args()
    qrels = judged(read_annotations(arguments.csn99 / ANNOTATIONS))
    texts = judged_texts(arguments.csn99 / PACK, qrels)
    functions, questions = answers_and_others(arguments.cosqa)
    rows = {}
    for folder in arguments.models:
        embed_queries, embed_documents = load(folder)
        rows[folder.name] = {
            "ndcg_within": within(qrels, texts, embed_queries, embed_documents),
            "cosqa_mrr": mrr(functions, questions, embed_queries, embed_documents),
        }
    record("models_alone", {"functions": [len(texts), len(functions)], "models": rows}, flat=True)


def load(folder: Path) -> tuple[Embed, Embed]:
    """Return what embeds queries and what embeds documents, both as unit vectors [N, D]."""
    if (folder / MANIFEST).exists():
        encoder = OnnxEncoder.load(folder)
        tokenizer, limit = encoder.tokenizer, encoder.max_document_tokens
        return encoder.encode_queries, lambda texts: encoder.encode_documents(
            [tokenizer.encode_document(text, limit, "") for text in texts]
        )
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    model.max_seq_length = _MAX_TOKENS

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.asarray(
            model.encode(list(texts), batch_size=16, normalize_embeddings=True), dtype=np.float32
        )

    return embed, embed


def judged_texts(pack: Path, qrels: Qrels) -> dict[str, str]:
    """Extract the judged functions: their address and their text for an encoder."""
    wanted = {url for grades in qrels.values() for url in grades}
    paths = {url_path(url) for url in wanted}
    found = {}
    for place, row in read_jsonl(pack):
        path = "/".join(field(place, row, name) for name in ("repo", "sha", "path"))
        spec = language_named(field(place, row, "language").lower())
        if path in paths and spec:
            for document in extract(row["text"].encode(), path, spec, ParseConfig()).documents:
                url = document_url(path, document.start_line, document.end_line)
                if url in wanted:
                    found[url] = document_text(document)
    return found


def within(
    qrels: Qrels, texts: Mapping[str, str], embed_queries: Embed, embed_documents: Embed
) -> dict[str, float]:
    """Return the NDCG within the judged functions that were extracted, by language and on average."""
    vectors = dict(zip(texts, embed_documents(list(texts.values())), strict=True))
    asked = sorted({text for _, text in qrels})
    queries = dict(zip(asked, embed_queries(asked), strict=True))
    scores: dict[QueryId, dict[str, float]] = {}
    for query, grades in qrels.items():
        here = {url: grade for url, grade in grades.items() if url in vectors}
        if any(here.values()):
            run = sorted(here, key=lambda url: -float(vectors[url] @ queries[query[1]]))
            scores[query] = {"ndcg": ndcg(run, here)}
    return {name: round(value, 4) for name, value in summarise(scores).metrics["ndcg"].items()}


def answers_and_others(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Read CoSQA's functions that answer a question and some others, and the id of each question's answer."""
    functions = cosqa.read_functions(one_file(folder, cosqa.CODEBASE))
    queries, qrels = cosqa.read_queries(one_file(folder, cosqa.QUERIES), functions)
    answers = {queries[query]: next(iter(grades)) for query, grades in qrels.items()}
    others = sorted(functions.keys() - set(answers.values()))
    drawn = {*answers.values(), *random.Random(0).sample(others, _DISTRACTORS)}
    return {name: _text(code) for name, code in functions.items() if name in drawn}, answers


def _text(code: str) -> str:
    """Return what an encoder reads of a function that is a file of its own; the code, where it cannot be parsed."""
    spec = language_named(cosqa.GROUP)
    assert spec
    documents = extract(code.encode(), "x.py", spec, ParseConfig()).documents
    return document_text(documents[0]) if documents else code


def mrr(
    functions: Mapping[str, str], answers: Mapping[str, str], embed_queries: Embed, embed_documents: Embed
) -> float:
    """Return the mean reciprocal rank of each question's answer."""
    places = {name: place for place, name in enumerate(functions)}
    similar = embed_queries(list(answers)) @ embed_documents(list(functions.values())).T
    right = similar[np.arange(len(answers)), [places[name] for name in answers.values()]]
    return round(float(np.mean(1 / (1 + (similar > right[:, None]).sum(axis=1)))), 4)


if __name__ == "__main__":
    main()
