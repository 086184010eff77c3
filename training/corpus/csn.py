"""One record of any CodeSearchNet layout (a dict) -> a row with all its fields.

The official jsonl, the Hugging Face columns and the `dedupe_definitions` pickles have different names for the same
fields. This project's files have the official layout and also the field `package`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from codesearch.languages import language_named
from training.corpus.rows import PARTITIONS, CsnRow, row_of_record
from training.evaluation.pairs import without_docstring

_NAMES = {
    "repo": ("repo", "nwo", "repository_name"),
    "path": ("path", "func_path_in_repository"),
    "func_name": ("func_name", "identifier"),
    "original_string": ("original_string", "whole_func_string", "function"),
    "language": ("language",),
    "code": ("code", "func_code_string", "function"),
    "code_tokens": ("code_tokens", "func_code_tokens", "function_tokens"),
    "docstring": ("docstring", "func_documentation_string"),
    "docstring_tokens": ("docstring_tokens", "func_documentation_tokens"),
    "sha": ("sha",),
    "url": ("url", "func_code_url"),
    "partition": ("partition", "split_name"),
}
PARTITION_NAMES = {**{name: name for name in PARTITIONS}, "validation": "valid", "dev": "valid"}
_SHA = re.compile(r"/blob/([0-9a-f]{7,40})/")


def from_record(record: Mapping[str, object], partition: str = "") -> CsnRow:
    """Turn a record into a row; a ValueError says what is wrong with it. `partition` counts if the record has none."""
    language = _text(record, "language")
    if language.startswith("python"):  # Some data sets have `python-2.7` and `python-3`.
        language = "python"
    if language_named(language) is None:
        raise ValueError(f"language {language!r} is not known, so remove the rows of this language")
    docstring = _text(record, "docstring", "")
    # CodeSearchNet's code has the docstring inside only in Python; this project's code never has it.
    has_docstring_inside = language == "python" and bool(docstring) and "package" not in record
    code = _text(record, "code")
    named = _text(record, "partition", "") or partition
    url = _text(record, "url", "")
    found_sha = _SHA.search(url)
    fields = {
        **{name: _text(record, name) for name in ("repo", "path", "func_name")},
        "package": _text(record, "package", ""),
        "language": language,
        "code": without_docstring(code, docstring) if has_docstring_inside else code,
        "docstring": docstring,
        "partition": PARTITION_NAMES.get(named, named),
        "url": url,
    }
    return CsnRow(
        row=row_of_record(fields),
        original_string=_text(record, "original_string"),
        documentation=docstring,
        code_tokens=_tokens(record, "code_tokens"),
        docstring_tokens=_tokens(record, "docstring_tokens"),
        sha=_text(record, "sha", "") or (found_sha[1] if found_sha else ""),
    )


def _value(record: Mapping[str, object], name: str) -> object:
    for known in _NAMES.get(name, (name,)):
        if record.get(known) is not None:
            return record[known]
    return None


def _text(record: Mapping[str, object], name: str, default: str | None = None) -> str:
    value = _value(record, name)
    if value is None and default is None:
        raise ValueError(f"no field {' or '.join(_NAMES.get(name, (name,)))}")
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} is {type(value).__name__}, not text")
    return default or "" if value is None else value


def _tokens(record: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = _value(record, name)
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or not all(isinstance(token, str) for token in value):
        raise ValueError(f"{name} is not a list of texts")
    return tuple(value)
