"""Files with errors in their syntax trees, by language -> `results/parse_errors.json`."""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from benchmarks.publish import record
from codesearch.config import ParseConfig
from codesearch.languages import is_installed, language_of_path, language_of_source, load_parser
from codesearch.languages.records import Language
from codesearch.parsing.decoding import decoded
from codesearch.parsing.definitions import _parsed
from codesearch.parsing.extract import extract
from codesearch.parsing.sections import refuse_text
from codesearch.parsing.walker import refuse_content

COLUMNS = ("files", "with errors", "after macros are replaced", "with blocks")


def main() -> None:
    """Count the files of all folders together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", help="checkouts of public repositories")
    parser.add_argument("--most", type=int, default=300, help="files of a language, drawn at random")
    options = parser.parse_args()
    rows = []
    for language, paths in sorted(files_by_language(options.folders).items()):
        rows.append({"language": language, "all": len(paths), **_counted(drawn(paths, options.most))})
    record("parse_errors", rows)


def files_by_language(folders: Sequence[Path]) -> dict[str, list[tuple[Path, Language]]]:
    """Return the files that an index would parse, by the name of their language."""
    files: dict[str, list[tuple[Path, Language]]] = defaultdict(list)
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        spec = language_of_path(str(path))
        if spec is None or path.is_symlink() or not path.is_file():
            continue
        content = path.read_bytes()
        source = decoded(content, str(path))
        spec = language_of_source(spec, str(path), source)
        if not spec.grammar or spec.is_markup or not is_installed(spec):
            continue
        if not (refuse_content(source, spec.name, ParseConfig()) or refuse_text(source, str(path), spec)):
            files[spec.name].append((path, spec))
    return files


def drawn(files: Sequence[tuple[Path, Language]], most: int) -> list[tuple[Path, Language]]:
    """Draw at most so many files; the same ones each time."""
    return random.Random(3).sample(files, min(len(files), most))


def _counted(files: Sequence[tuple[Path, Language]]) -> Counter[str]:
    counts: Counter[str] = Counter({name: 0 for name in COLUMNS})
    for path, spec in files:
        source = decoded(path.read_bytes(), str(path))
        counts["files"] += 1
        counts["with errors"] += load_parser(spec).parse(source).root_node.has_error
        counts["after macros are replaced"] += _parsed(source, spec).tree.root_node.has_error
        counts["with blocks"] += extract(source, str(path), spec).is_partial
    return counts


if __name__ == "__main__":
    main()
