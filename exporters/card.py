"""The manifest of a bundle -> a model card: data, figures, use and limits."""

from __future__ import annotations

from typing import Any

_NAMED = 20


def model_card(manifest: dict[str, Any]) -> str:
    """Return a model card in Markdown, with the front matter that model hubs read."""
    return f"""---
library_name: model2vec
license: {str(manifest["licence"]).lower()}
language: en
tags: [code-search, static-embeddings, sentence-transformers, feature-extraction]
---
# {manifest["name"]}

A static encoder for code search in plain English: a bag of subtokens ({manifest["architecture"]}) with
{manifest["vocabulary_size"]:,} tokens and {manifest["dim"]} dimensions, one table for queries and one for code.
It was trained and exported with [codesearch](https://pypi.org/project/codesearch-local/).

## Use

```python
from model2vec import StaticModel

queries = StaticModel.from_pretrained("FOLDER/query").encode(["copy a directory tree"])
documents = StaticModel.from_pretrained("FOLDER/document").encode(["shutil copytree\\n\\ndef copytree(src, dst): ..."])
scores = queries @ documents.T
```

```python
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("FOLDER")
scores = model.encode_query(["copy a directory tree"]) @ model.encode_document(["..."]).T
```

Vectors have unit length. A document has up to three parts, each on a line of its own: the last two parts of its path
with its qualified name, its documentation, its code.

## Data

{_data(manifest)}

## Figures

{_figures(manifest)}

## Limits

- It finds shared meaning of words and does not see their order: "int to string" and "string to int" are the same.
- It was trained on English. Other languages match only by shared words, and unknown characters are left out.
- Queries are cut to {manifest["max_query_tokens"]} tokens, documents to {manifest["max_document_tokens"]}.
  model2vec cuts a text to a number of characters first, and so keeps fewer tokens of long documents.
- Names with letters outside ASCII are split at case changes here, but not in codesearch.
- codesearch ranks by keywords and names too, and finds more than these vectors alone.
"""


def _data(manifest: dict[str, Any]) -> str:
    sources = manifest["trained_on"]
    named = ", ".join(sources[:_NAMED]) + (", ..." if len(sources) > _NAMED else "")
    return (
        f"Pairs of documentation and code from {len(sources):,} packages or repositories: {named}. "
        f"Hash of the data: `{manifest['data_hash']}`."
    )


def _figures(manifest: dict[str, Any]) -> str:
    """Lay out each measure as a row, by language."""
    metrics: dict[str, dict[str, float]] = manifest["metrics"]
    columns = list(dict.fromkeys(language for values in metrics.values() for language in values))
    lines = [["measure", *columns], ["---"] * (1 + len(columns))]
    for name, values in metrics.items():
        lines.append([f"`{name}`", *(f"{values[key]:.3f}" if key in values else "" for key in columns)])
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return (
        "Mean reciprocal rank of held-out documentation, among 999 other functions (`mrr_999`) or all of the test set "
        f"(`mrr_full`).\n\n{table}"
    )
