"""`python -m tests.codesearchnet_sample FOLDER`: Python's standard library in the layout of CodeSearchNet's files.

    data/python/final/jsonl/PARTITION/python_PARTITION_0.jsonl.gz    as in the official archives
    data/python_dedupe_definitions_v2.pkl                            every function
    challenge/queries.csv, annotations.csv, sources/                 as `python -m training download csn99` makes them

Modules, not repositories, are divided into the partitions. The sample is too small to judge an encoder.
"""

import csv
import gzip
import json
import pickle
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from codesearch.languages import language_named
from codesearch.parsing.extract import extract

MODULES = {
    "train": "argparse ast calendar configparser csv difflib filecmp fractions ftplib glob gzip heapq inspect "
    "ipaddress mailbox mimetypes optparse pathlib platform pprint queue random sched selectors shelve smtplib "
    "statistics subprocess tempfile timeit tokenize uuid".split(),
    "valid": "datetime functools logging/handlers shlex types weakref".split(),
    "test": "bisect codecs fileinput os shutil stat string textwrap traceback warnings".split(),
}
REPOSITORY, SHA = "python/cpython", "0" * 40


def main(folder: Path) -> None:
    """Write the sample."""
    library = Path(sysconfig.get_path("stdlib"))
    records = {name: list(_records(library, modules, name)) for name, modules in MODULES.items()}
    for partition, rows in records.items():
        path = folder / "data/python/final/jsonl" / partition / f"python_{partition}_0.jsonl.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(path, "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    definitions = [_definition(row) for rows in records.values() for row in rows]
    (folder / "data/python_dedupe_definitions_v2.pkl").write_bytes(pickle.dumps(definitions))
    _write_challenge(folder / "challenge", library, records["test"][::9])
    counts = ", ".join(f"{len(rows)} {name}" for name, rows in records.items())
    sys.stdout.write(f"{counts} functions in {folder}\n")


def _records(library: Path, modules: list[str], partition: str) -> Iterator[dict[str, object]]:
    python = language_named("python")
    assert python is not None
    for module in modules:
        path = library / f"{module}.py"
        if not path.exists():
            path = library / module / "__init__.py"
        source = path.read_bytes()
        where = f"Lib/{path.relative_to(library).as_posix()}"
        for document in extract(source, where, python).documents:
            if document.kind not in ("function", "method") or len(document.docstring.split()) < 3:
                continue
            whole = source[document.start_byte : document.end_byte].decode()
            lines = f"#L{document.start_line}-L{document.end_line}"
            yield {
                "repo": REPOSITORY,
                "path": where,
                "func_name": document.qualified_name,
                "original_string": whole,
                "language": "python",
                "code": whole,
                "code_tokens": document.code.split(),
                "docstring": document.docstring,
                "docstring_tokens": document.docstring.split("\n\n")[0].split(),
                "sha": SHA,
                "url": f"https://github.com/{REPOSITORY}/blob/{SHA}/{where}{lines}",
                "partition": partition,
            }


def _definition(row: dict[str, object]) -> dict[str, object]:
    """Return a record with the field names of the pickles."""
    renamed = {"repo": "nwo", "func_name": "identifier", "code": "function", "code_tokens": "function_tokens"}
    return {renamed.get(name, name): value for name, value in row.items() if name != "partition"}


def _write_challenge(folder: Path, library: Path, rows: list[dict[str, object]]) -> None:
    """Ask for some functions by the first paragraphs of their docstrings."""
    asked = [(_first_paragraph(row), str(row["url"]), str(row["path"])) for row in rows]
    for _, _, path in asked:
        target = folder / "sources" / REPOSITORY / SHA / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(library / path.removeprefix("Lib/"), target)
    _write_csv(folder / "queries.csv", [["query"], *([query] for query, _, _ in asked)])
    head = ["Language", "Query", "GitHubUrl", "Relevance", "Notes"]
    _write_csv(
        folder / "annotations.csv", [head, *(["Python", query, url, "3", ""] for query, url, _ in asked)]
    )


def _first_paragraph(row: dict[str, object]) -> str:
    return " ".join(str(row["docstring"]).split("\n\n")[0].split())


def _write_csv(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
