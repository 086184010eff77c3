"""The definitions that Universal Ctags finds, and the share of them that an index has -> `results/definitions.json`.

`python -m benchmarks.definitions FOLDERS...` draws files of each language at random. A definition is found if one of
its name begins near its line. Only kinds that both have are compared, and only lines that can define something.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from benchmarks.parse_errors import drawn, files_by_language
from benchmarks.publish import DEV_DOCS, fill, line, record
from codesearch.languages.records import Language
from codesearch.parsing.decoding import decoded
from codesearch.parsing.extract import extract

_TYPES = "class enum interface struct"
KINDS = {
    "c": "function prototype enum struct union",
    "cpp": f"function union {_TYPES}",
    "csharp": f"method property {_TYPES}",
    "elixir": "function macro module protocol",
    "go": "func interface struct type methodSpec const var",
    "haskell": "function type",
    "java": f"method annotation field {_TYPES}",
    "javascript": "class function generator method",
    "julia": "function macro module struct type",
    "lua": "function",
    "luau": "function",
    "ocaml": "class Exception function method module type var",
    "ocamli": "class Exception method module type val",
    "php": "class function interface trait",
    "powershell": "function",
    "python": "class function member",
    "ruby": "class method module singletonMethod",
    "rust": "enum function interface macro method struct typedef",
    "typescript": "alias class enum function interface method",
}
"""Language -> the kinds of ctags that are compared."""
_ASSIGNED = r"\bfunction\s+[\w.:]*NAME\b|\bNAME\W*=\s*function\b"
_TOP = r"^(?:let|and|type|module|exception|external|class)\b[^=]*\bNAME\b"
_MEMBER = r"^\s*(?:val|method|module|type|exception)\b[\w\s]*\bNAME\b"
LINES = {
    "javascript": rf"{_ASSIGNED}|\bclass\s+NAME\b|\bNAME\s*[:=]\s*(?:async\s)?[^=]*=>"
    r"|^\s*(?:\w+\s+)*NAME\([^;]*\{\s*$",
    "lua": _ASSIGNED,
    "luau": _ASSIGNED,
    "ocaml": f"{_TOP}|{_MEMBER}",
    "ocamli": _MEMBER,
    "typescript": r"^(?!\s*import\b|.*,\s*$).*\bNAME\b",
}
"""Language -> pattern of a line that defines NAME: ctags takes local names, calls and texts for definitions there."""
_CTAGS = (
    "ctags",
    "--output-format=json",
    "--fields=+nKl",
    "--kinds-C=+p",
    "--kinds-C++=+p",
    "--langmap=Lua:+.luau",
)
_ABOVE, _COLUMNS = 8, ("files", "definitions", "found", "recall")


def main() -> None:
    """Compare all folders together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", help="checkouts of public repositories")
    parser.add_argument("--most", type=int, default=100, help="files of a language, drawn at random")
    options = parser.parse_args()
    files = files_by_language(options.folders)
    rows = []
    for language in sorted(files.keys() & KINDS):
        rows.append({"language": language, **compared(language, drawn(files[language], options.most))})
    record("definitions", rows)
    cells = [line(["language", *_COLUMNS]), line(["---"] * (len(_COLUMNS) + 1))]
    cells += [line([row["language"], *(f"{row[column]:,}" for column in _COLUMNS)]) for row in rows]
    fill(DEV_DOCS / "reliability.md", "definitions", "\n".join(cells))


def compared(language: str, files: Sequence[tuple[Path, Language]]) -> dict[str, float]:
    """Count the definitions of ctags, and those of them that the files have."""
    expected = tags(language, [path for path, _ in files])
    count = found = 0
    for path, spec in files:
        source = decoded(path.read_bytes(), str(path))
        extraction = extract(source, str(path), spec)
        spans = defaultdict(list)
        for one in (*extraction.documents, *extraction.members):
            spans[name_of(one.name)].append((one.start_line - _ABOVE, one.last_line))
        for number, name in expected.get(str(path), ()):
            count += 1
            found += any(first <= number <= last for first, last in spans[name])
    return {
        "files": len(files),
        "definitions": count,
        "found": found,
        "recall": round(found / max(count, 1), 3),
    }


def tags(language: str, paths: Sequence[Path]) -> dict[str, set[tuple[int, str]]]:
    """Return the lines and the names of what ctags finds in each file."""
    listing = "\n".join(map(str, paths))
    output = subprocess.run(
        [*_CTAGS, "-f", "-", "-L", "-"], input=listing, capture_output=True, text=True, check=True
    )
    kinds, pattern = KINDS[language].split(), LINES.get(language, "")
    expected: dict[str, set[tuple[int, str]]] = defaultdict(set)
    lines = {str(path): path.read_text("utf-8", "replace").split("\n") for path in paths}
    for tag in map(json.loads, output.stdout.splitlines()):
        name, path, number = name_of(tag["name"]), tag["path"], tag["line"]
        is_named = not name.startswith(("__anon", "Anonymous")) and name.strip("()_")
        is_definition = re.search(pattern.replace("NAME", re.escape(name)), lines[path][number - 1])
        if tag["kind"] in kinds and is_named and is_definition:
            expected[path].add((number, name))
    return expected


def name_of(tag: str) -> str:
    """Return the name without what is before it.

    >>> [name_of(tag) for tag in ("Shop.total", "M:count", "operator ==", "peek<T>", "shop::total")]
    ['total', 'count', 'operator==', 'peek', 'total']
    """
    if "operator" in tag:
        return re.sub(r"^.*\boperator\s*(?=\W)", "operator", tag)
    return re.split(r"[.:]", re.sub(r"<.*$", "", tag))[-1] or tag


if __name__ == "__main__":
    main()
