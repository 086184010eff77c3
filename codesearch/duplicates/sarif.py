"""Groups of duplicates -> SARIF 2.1.0, which pages of code scanning read.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import codesearch
from codesearch.duplicates.records import MEANING, RENAMED, TEXT, Function, Group, Match

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_RULES = {
    TEXT: "Same text",
    RENAMED: "Same but for names and values",
    MEANING: "Probably does the same",
}


def sarif(groups: Sequence[Group]) -> dict[str, Any]:
    """Return a SARIF log with a result for each match. Paths are relative to the indexed folder."""
    rules = [{"id": f"duplicate-{same}", "shortDescription": {"text": text}} for same, text in _RULES.items()]
    driver = {"name": "codesearch", "version": codesearch.__version__, "rules": rules}
    results = [_result(group.function, match) for group in groups for match in group.matches]
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _result(one: Function, match: Match) -> dict[str, Any]:
    other = match.function
    keys = "\n".join(sorted((one.key, other.key)))
    text = f"{_RULES[match.same]}: {one.name} and {other.name} ({other.path}:{other.start_line})"
    return {
        "ruleId": f"duplicate-{match.same}",
        "level": "note" if match.same == MEANING else "warning",
        "message": {"text": text},
        "locations": [_location(one)],
        "relatedLocations": [{"id": 1, **_location(other)}],
        "partialFingerprints": {"functions/v1": hashlib.sha256(keys.encode("utf-8", "replace")).hexdigest()},
        "rank": round(100 * match.score, 1),
    }


def _location(function: Function) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": quote(function.path, errors="surrogateescape")},
        "region": {"startLine": function.start_line, "endLine": function.end_line},
    }
    return {"physicalLocation": place, "logicalLocations": [{"fullyQualifiedName": function.name}]}
