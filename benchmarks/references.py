"""Usages against the references of language servers -> `results/references.json`.

`python -m benchmarks.references PACKAGES...` copies projects from folders that `training corpus fetch` made, indexes
them, asks for the usages of each definition in `references/*.tsv`, and reports for each grade how many lines are right,
and how many of the references have one of the first two grades.

`--server PROJECT COMMAND...` asks a language server for the references of a sample of the project's definitions, and
writes them. A row of a file has the project, the kind and the place of a definition, and the lines that refer to it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

from benchmarks.publish import DEV_DOCS, fill, record
from benchmarks.publish import line as cells
from benchmarks.speed import WORK
from codesearch import Engine, Scope
from codesearch.engine.session import AS_INDEXED
from codesearch.errors import CodeSearchError
from codesearch.store.segments import IndexReader
from codesearch.structure.meaning import occurrences
from codesearch.structure.usages import Usages
from codesearch.types import TYPE_KINDS

TRUTH = Path(__file__).parent / "references"
FOLDERS = {
    "python/picard": "picard-3.0.2",
    "python/Glances": "",
    "typescript/livekit-client": "package/src",
    "typescript/botbuilder-core": "package/src",
    "typescript/@tldraw__editor": "package/src",
    "javascript/Haraka": "package",
    "javascript/ungit": "package/source",
    "c/dnsmasq": "dnsmasq-2.90/src",
    "go/aerc": "aerc-0.14.0",
    "go/restic": "restic-0.14.0",
    "php/zoph": "usr/share/zoph/www",
}
"""Project -> the folder of its package that is indexed."""
_GO_MODULES = {"go/aerc": "git.sr.ht/~rjarry/aerc", "go/restic": "github.com/restic/restic"}
_SAMPLED = {"function": 5, "type": 4, "method": 8, "field": 5}
"""Definitions of each kind that are sampled in a project; methods whose name is shared count twice."""
_SEED, _FEWEST, _MOST, _FIRST, _MOST_IN_LINE = 71, 2, 500, 10, 3
_NO_LIMIT, _SETTLE_S, _TIMEOUT_S = 1_000_000, 20, 300
_GOOD, _SAID = ("certain", "likely"), "in comments and strings"
"""The grades that are measured, and that of lines which are left out, because servers differ about them."""
_SCRIPT = {
    "allowJs": True,
    "target": "esnext",
    "module": "esnext",
    "moduleResolution": "node",
    "jsx": "react",
}
_LANGUAGE_IDS = {"c": "c", "go": "go", "php": "php", "python": "python"}
Lines = frozenset[tuple[str, int]]


class Truth(NamedTuple):
    """The lines that refer to a definition, and those with its name about which the server knows nothing."""

    project: str
    kind: str
    path: str
    line: int
    lines: Lines
    unknown: Lines = frozenset()


def main() -> None:
    """Measure, or ask a server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", type=Path, nargs="*", help="folders with LANGUAGE/PACKAGE")
    parser.add_argument(
        "--work", type=Path, default=WORK / "references", help="folder for copies and the index"
    )
    parser.add_argument(
        "--judge", action="store_true", help="ask the server about the other lines of what is written"
    )
    parser.add_argument(
        "--server", nargs=argparse.REMAINDER, default=[], help="PROJECT and the command of its server"
    )
    options = parser.parse_args()
    work = options.work.resolve()
    for project in FOLDERS:
        copy_project(project, options.packages, work)
    engine = Engine(work / "home")
    if options.server:
        project, *command = options.server
        if options.judge:
            names = named(engine, work / project, project)
            asyncio.run(judged(work / project, project, names, command))
        else:
            sampled = list(sample(engine, work / project, project))
            asyncio.run(asked(work / project, project, sampled, command))
        return
    rows = measured(engine, work)
    record("references", rows, flat=True)
    fill(DEV_DOCS / "bench-commands.md", "references", table(rows))


def named(engine: Engine, root: Path, project: str) -> dict[Truth, str]:
    """Return the names of the definitions of a project."""
    engine.index(root)
    session = engine.session(Scope((root,)), AS_INDEXED)
    truths = [truth for truth in read_truths() if truth.project == project]
    return {
        truth: session.usages(f"{root / truth.path}:{truth.line}", limit=1).found.name for truth in truths
    }


def table(rows: dict[str, dict[str, Any]]) -> str:
    """Make the table of the page."""
    columns = ("definitions", "certain", "certain and likely", "recall", "first ten")
    lines = [cells(["", *columns]), cells(["---"] * (len(columns) + 1))]
    return "\n".join(
        lines + [cells([name, *(str(row[column]) for column in columns)]) for name, row in rows.items()]
    )


def copy_project(project: str, packages: Iterable[Path], work: Path) -> None:
    """Copy a project, with what tells its server which files belong to it."""
    target = work / project
    sources = [folder / project / FOLDERS[project] for folder in packages if (folder / project).is_dir()]
    if target.is_dir() or not sources:
        return
    shutil.copytree(sources[0], target)
    if project.startswith(("typescript", "javascript")):
        (target / "tsconfig.json").write_text(json.dumps({"compilerOptions": _SCRIPT, "include": ["**/*"]}))
    if project in _GO_MODULES:
        (target / "go.mod").write_text(f"module {_GO_MODULES[project]}\n\ngo 1.19\n")
    if project.startswith("c/"):
        files = [str(file) for file in sorted(target.rglob("*.c"))]
        flags = ["cc", "-I.", '-DVERSION="1"', "-c"]
        commands = [{"directory": str(target), "file": file, "arguments": [*flags, file]} for file in files]
        (target / "compile_commands.json").write_text(json.dumps(commands))


class _Sampled(NamedTuple):
    kind: str
    path: str
    line: int
    column: int
    others: (
        Lines  # Definitions with the name: a server may count those that override a method as its references.
    )


def sample(engine: Engine, root: Path, project: str) -> Iterator[_Sampled]:
    """Yield some definitions of each kind, in an order that a seed fixes."""
    engine.index(root)
    language = project.partition("/")[0]
    with engine.session(Scope((root,)), AS_INDEXED).indexes() as (index,):
        rows = [(path, row) for path, of, row in rows_of(index) if of in (language, "tsx") and not row.flags]
    counts = Counter(row.name for _, row in rows)
    random.Random(_SEED).shuffle(rows)
    left: Counter[str] = Counter()
    for path, row in rows:
        kind = kind_of(row.kind)
        is_shared = kind == "method" and counts[row.name] > 1
        kind = "shared method" if is_shared else kind
        most = _SAMPLED.get(kind.rpartition(" ")[2], 0)
        lines = (root / path).read_text("utf-8", "replace").split("\n")
        name_line, column = name_at(lines, row.start_line, row.name)
        is_name = row.name.isidentifier() and len(row.name) > 2 and not row.name.startswith("__")
        is_name = is_name and row.name != "constructor" and "require(" not in row.signature
        if is_name and left[kind] < most and column >= 0:
            left[kind] += 1
            others = {(of, name_at_row(root, of, other)) for of, other in rows if other.name == row.name}
            yield _Sampled(kind, path, name_line, column, frozenset(others))


def rows_of(index: IndexReader) -> Iterator[tuple[str, str, Any]]:
    """Yield the path, the language and the row of each definition and member."""
    for segment in index.segments:
        for number, file in enumerate(segment.files):
            rows = [*segment.store.document_rows(file), *segment.store.members(number)]
            yield from ((file.path, file.language, row) for row in rows)


def kind_of(kind: str) -> str:
    """Return the kind of a definition that is reported.

    >>> [kind_of(kind) for kind in ("class", "method", "property", "constant")]
    ['type', 'method', 'field', 'field']
    """
    if kind in TYPE_KINDS:
        return "type"
    return kind if kind in ("function", "method") else "field"


def name_at(lines: list[str], first: int, name: str) -> tuple[int, int]:
    """Return the line and the column of a name at or below a line, behind decorators."""
    for number, line in enumerate(lines[first - 1 : first + 10], first):
        if not line.lstrip().startswith("@") and (at := next(occurrences(line, name), -1)) >= 0:
            return number, at
    return first, -1


def name_at_row(root: Path, path: str, row: Any) -> int:  # noqa: ANN401 - a row of an index.
    """Return the line with the name of a definition."""
    return name_at((root / path).read_text("utf-8", "replace").split("\n"), row.start_line, row.name)[0]


async def started(root: Path, project: str, paths: Iterable[str], command: list[str]) -> LanguageClient:
    """Start a server and open some files in it."""
    client = LanguageClient("benchmark", "1")
    client.feature(types.WORKSPACE_CONFIGURATION)(lambda params: [{} for _ in params.items])
    for feature in (
        types.CLIENT_REGISTER_CAPABILITY,
        types.WINDOW_WORK_DONE_PROGRESS_CREATE,
        types.WINDOW_SHOW_MESSAGE,
        types.WINDOW_LOG_MESSAGE,
        types.PROGRESS,
        types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
    ):
        client.feature(feature)(lambda *_: None)
    await client.start_io(*command)
    folders = [types.WorkspaceFolder(root.as_uri(), root.name)]
    capabilities = types.ClientCapabilities()
    await client.initialize_async(
        types.InitializeParams(capabilities, root_uri=root.as_uri(), workspace_folders=folders)
    )
    client.initialized(types.InitializedParams())
    language = project.partition("/")[0]
    for path in sorted(set(paths)):
        text = (root / path).read_text("utf-8", "replace")
        document = types.TextDocumentItem(
            (root / path).as_uri(), _LANGUAGE_IDS.get(language, language), 1, text
        )
        client.text_document_did_open(types.DidOpenTextDocumentParams(document))
    await asyncio.sleep(_SETTLE_S)
    return client


async def stopped(client: LanguageClient) -> None:
    """End a server."""
    with suppress(TimeoutError):
        await asyncio.wait_for(client.shutdown_async(None), _SETTLE_S)
        client.exit(None)
        await asyncio.wait_for(client.stop(), _SETTLE_S)


async def asked(root: Path, project: str, sampled: list[_Sampled], command: list[str]) -> None:
    """Ask a server for the references of definitions, and write them."""
    client = await started(root, project, (one.path for one in sampled), command)
    found: list[Truth] = []
    for one in sampled:
        params = types.ReferenceParams(
            types.ReferenceContext(False),
            types.TextDocumentIdentifier((root / one.path).as_uri()),
            types.Position(one.line - 1, one.column),
        )
        try:
            answer = await asyncio.wait_for(client.text_document_references_async(params), _TIMEOUT_S) or []
        except JsonRpcException:  # Such as a file of Go for another system.
            continue
        lines = {place for location in answer if (place := place_of(root, location))[0]}
        lines -= {*one.others, (one.path, one.line)}
        found.append(Truth(project, one.kind, one.path, one.line, frozenset(lines)))
        print(project, one.kind, f"{one.path}:{one.line}", len(found[-1].lines), flush=True)
    write(project, [one for one in found if _FEWEST <= len(one.lines) <= _MOST])
    await stopped(client)


async def judged(root: Path, project: str, truths: dict[Truth, str], command: list[str]) -> None:
    """Ask a server where the name on each other line is defined, and write its references with what it says.

    A line is unknown if it says nothing, as of a receiver without a type. It has no references in code that a build
    leaves out, where the server of C only guesses.
    """
    endings = {Path(truth.path).suffix for truth in truths}
    texts = {
        str(path.relative_to(root)): path.read_text("utf-8", "replace").split("\n")
        for path in sorted(root.rglob("*"))
        if path.suffix in endings and path.is_file()
    }
    client = await started(root, project, texts, command)
    found = []
    for truth, name in truths.items():
        own = (truth.path, truth.line)
        is_instance = re.search(
            rf"(?:module\.exports =|export default) new {name}\b", "\n".join(texts[truth.path])
        )
        lines, unknown = set(truth.lines), set()
        for path, number, line in (
            (path, number, line)
            for path, text in texts.items()
            for number, line in enumerate(text, 1)
            if name in line and (path, number) not in {*truth.lines, own}
        ):
            answers = list[set[tuple[str, int]]]()
            for column in islice(occurrences(line, name), _MOST_IN_LINE):
                at = types.TextDocumentIdentifier((root / path).as_uri()), types.Position(number - 1, column)
                answers.append(set())
                with suppress(JsonRpcException, TimeoutError):  # That of Go knows no names in comments.
                    request = client.text_document_definition_async(types.DefinitionParams(*at))
                    answer = await asyncio.wait_for(request, _SETTLE_S)
                    places = [answer] if isinstance(answer, types.Location) else answer or ()
                    answers[-1] |= {place_of(root, place) for place in places}
            is_meant = any(own in places and (path, number) not in places for places in answers)
            if is_meant and not project.startswith("c/"):
                lines.add((path, number))
            elif is_meant or not all(answers):
                unknown.add((path, number))
        if is_instance:  # A file that takes the instance does not name its class.
            lines = {
                (path, number)
                for path, number in lines
                if path == truth.path or name in texts[path][number - 1]
            }
        found.append(truth._replace(lines=frozenset(lines), unknown=frozenset(unknown)))
        print(project, name, len(truth.lines), len(lines), len(unknown), flush=True)
    write(project, found)
    await stopped(client)


def place_of(root: Path, found: types.Location | types.LocationLink) -> tuple[str, int]:
    """Return the path and the line of an answer."""
    is_link = isinstance(found, types.LocationLink)
    path = path_of(found.target_uri if is_link else found.uri)
    span = found.target_selection_range if is_link else found.range
    return str(path.relative_to(root)) if path.is_relative_to(root) else "", span.start.line + 1


def path_of(uri: str) -> Path:
    """Return the path of a URI."""
    from urllib.parse import unquote, urlparse

    return Path(unquote(urlparse(uri).path))


def write(project: str, truths: list[Truth]) -> None:
    """Write the references of a project."""
    rows = []
    for one in truths:
        cells = [one.kind, f"{one.path}:{one.line}", joined(one.lines), joined(one.unknown)]
        rows.append("\t".join(cells).rstrip() + "\n")
    TRUTH.mkdir(exist_ok=True)
    (TRUTH / f"{project.replace('/', '_')}.tsv").write_text("".join(sorted(rows)), "utf-8")


def joined(lines: Lines) -> str:
    """Write lines with each path once.

    >>> joined(frozenset({("a.c", 3), ("a.c", 1), ("b.c", 2)}))
    'a.c:1,3 b.c:2'
    """
    by_path = defaultdict(list)
    for path, line in sorted(lines):
        by_path[path].append(str(line))
    return " ".join(f"{path}:{','.join(numbers)}" for path, numbers in by_path.items())


def read_truths() -> Iterator[Truth]:
    """Yield what was written."""
    for project in FOLDERS:
        file = TRUTH / f"{project.replace('/', '_')}.tsv"
        for row in file.read_text("utf-8").splitlines() if file.exists() else ():
            kind, place, refs, unknown = (row.split("\t") + [""])[:4]
            path, _, line = place.rpartition(":")
            yield Truth(project, kind, path, int(line), apart(refs), apart(unknown))


def apart(text: str) -> Lines:
    """Read what `joined` wrote."""
    return frozenset(
        (path, int(number))
        for path, _, numbers in (part.rpartition(":") for part in text.split())
        for number in numbers.split(",")
    )


def measured(engine: Engine, work: Path) -> dict[str, Any]:
    """Return the shares of right lines, in all and by language and kind."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for truth in read_truths():
        root = work / truth.project
        if not root.is_dir():
            continue
        engine.index(root)
        session = engine.session(Scope((root,)), AS_INDEXED)
        place = f"{root / truth.path}:{truth.line}"
        groups = ("all", truth.project.partition("/")[0], truth.kind)
        try:
            every = session.usages(place, limit=_NO_LIMIT, all_code=True).found
            shown = session.usages(place, limit=_FIRST).found
            count = counted(truth, every, shown)
        except CodeSearchError:  # No answer.
            count = Counter({"definitions": 1, "references": len(truth.lines)})
        for group in groups:
            counts[group] += count
    return {group: shares(count) for group, count in counts.items()}


def counted(truth: Truth, every: Usages, shown: Usages) -> Counter[str]:
    """Count the lines of an answer by grade, those that are right, and the first that a person sees."""
    said = {(usage.path, usage.line) for usage in every.usages if usage.grade == _SAID}
    counts = Counter({"definitions": 1, "references": len(truth.lines - said)})
    for usage in every.usages:
        if (usage.path, usage.line) in truth.unknown:
            counts["unknown"] += usage.grade in _GOOD
            continue
        counts[usage.grade] += 1
        counts[f"{usage.grade} right"] += (usage.path, usage.line) in truth.lines
    counts["first"] = sum((usage.path, usage.line) not in truth.unknown for usage in shown.usages)
    counts["first right"] = sum((usage.path, usage.line) in truth.lines for usage in shown.usages)
    return counts


def shares(count: Counter[str]) -> dict[str, Any]:
    """Return what is reported of some definitions."""
    good, right = (sum(count[f"{grade}{end}"] for grade in _GOOD) for end in ("", " right"))
    pairs = {
        "certain": (count["certain right"], count["certain"]),
        "likely": (count["likely right"], count["likely"]),
        "certain and likely": (right, good),
        "recall": (right, count["references"]),
        "first ten": (count["first right"], count["first"]),
    }
    found = {name: round(part / whole, 3) if whole else None for name, (part, whole) in pairs.items()}
    return {"definitions": count["definitions"], "lines": dict(sorted(count.items())), **found}


if __name__ == "__main__":
    main()
