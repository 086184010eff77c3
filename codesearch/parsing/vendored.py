"""Folders that are copies of other projects, although their names do not say so.

Such a folder is where projects keep copies, for example in `public/plugins`. Its licence file names other holders than
that of the root, or it has a script with a minified copy and a manifest. Packages of a project may have other holders
too, so the place of a folder counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from codesearch.treefiles import read_regular

_LICENCE = re.compile(
    r"(?:(?:un|mit|bsd|gpl|apache)[-_]?)?(?:licen[cs]e|copying)(?:[-_.](?:mit|bsd|gpl|apache|2\.0|txt|md|rst))*",
    re.IGNORECASE,
)
_KEPT = frozenset(
    "assets contrib deps ext extern javascripts js lib libs plugins public static wwwroot".split()
)
_MANIFESTS = frozenset(("bower.json", "component.json", "composer.json", "package.json"))
_NOTICE = re.compile(
    rb"""^\W*(?:Copyright(?=\s)|COPYRIGHT(?=\s)|\([cC]\)|\xc2\xa9)
    (?!\s+(?i:notice|holder|owner|law|licen|interest|and|or)\b)    # the text of the licence itself
    (?![^\n]*(?:Free\ Software\ Foundation|[<[{]name))    # who wrote the licence, and its template
    [^\n]+""",
    re.MULTILINE | re.VERBOSE,
)
_WORD = re.compile(rb"[^\W\d]{3,}")
_OF_NOTICES = frozenset(b"copyright all rights reserved present and the http https".split())
_MOST_BYTES = 100_000


def licence_in(names: Collection[str]) -> str:
    """Return the name of the licence file among the names of a folder; "" if there is none."""
    return min(filter(_LICENCE.fullmatch, names), default="")


def holders(licence: str) -> frozenset[bytes]:
    """Return the words of the copyright notices in a licence file."""
    try:
        text, _ = read_regular(licence, _MOST_BYTES)
    except OSError:
        return frozenset()
    notices = b"\n".join(_NOTICE.findall(text)).lower()
    return frozenset(_WORD.findall(notices)) - _OF_NOTICES


def is_of_others(folder: str, licence: str, own: frozenset[bytes], names: Collection[str]) -> bool:
    """Say whether a folder such as `public/grid/` with these names is a copy; `own` holds the licence of the root."""
    if _KEPT.isdisjoint(folder.lower().split("/")):
        return False
    if licence:
        theirs = holders(licence)
        return bool(theirs) and theirs.isdisjoint(own)
    stems = (name.removesuffix(".min.js") for name in names if name.endswith(".min.js"))
    return not _MANIFESTS.isdisjoint(names) and any(f"{stem}.js" in names for stem in stems)
