"""Worker processes parse files in order, and a crash costs only one file."""

import os
import signal
import sys
from pathlib import Path

import pytest

from codesearch.build import build as build_module
from codesearch.build import parse
from codesearch.build.file_parser import TOO_COSTLY, FileParser, ParsedFile
from codesearch.build.parse import parse_files
from codesearch.build.workers import Workers, end_ready
from codesearch.config import IndexConfig, WalkConfig
from codesearch.errors import IndexStoreError
from codesearch.parsing.walker import SourceFile, WalkSummary, walk
from codesearch.store.digest import content_digest
from codesearch.store.manifest import LEFT_OUT, ONLY_BLOCKS
from tests.command import until
from tests.conftest import child_processes, write_tree

pytestmark = pytest.mark.workers


class CrashingParser(FileParser):
    """Simulate a grammar that crashes the process on some files."""

    def parse(self, file: SourceFile, *, is_plain: bool = False) -> ParsedFile | None:
        if ("hopeless" if is_plain else "crash") in file.path:
            os._exit(11)
        return super().parse(file, is_plain=is_plain)


@pytest.fixture
def many_chunks(monkeypatch, always_workers):
    """Make chunks of two files, and use workers for any amount of work."""
    monkeypatch.setattr(parse, "CHUNK_FILES", 2)


def tree(root: Path, *extra: str) -> list[SourceFile]:
    names = [f"f{number:02}.py" for number in range(12)] + list(extra)
    write_tree(root, {name: f"def {Path(name).stem}():\n    return 1\n" for name in names})
    return list(walk(root, WalkConfig(), WalkSummary()))


def parser(root: Path, tokenizer: Path, kind: type[FileParser] = FileParser) -> FileParser:
    return kind(root, IndexConfig(), tokenizer, 100)


def names_of(results: list[tuple[SourceFile, ParsedFile | None]]) -> list[tuple[str, list[str]]]:
    return [(file.path, [row[1] for row in parsed.rows]) for file, parsed in results]


def test_results_come_in_the_order_of_the_files(tmp_path, tokenizer_path, many_chunks):
    files = tree(tmp_path)
    expected = [(f"f{number:02}.py", [f"f{number:02}"]) for number in range(12)]
    assert names_of(list(parse_files(parser(tmp_path, tokenizer_path), files, 2))) == expected


def test_only_enough_chunks_for_the_workers_are_in_flight(tmp_path, tokenizer_path, many_chunks, monkeypatch):
    submitted = []

    def submit(pool, task, real=Workers.submit):
        submitted.append(task)
        return real(pool, task)

    monkeypatch.setattr(Workers, "submit", submit)
    files = tree(tmp_path, *(f"g{number:02}.py" for number in range(28)))
    ahead = [
        len(submitted) - taken // 2
        for taken, _ in enumerate(parse_files(parser(tmp_path, tokenizer_path), files, 2))
    ]
    assert len(submitted) == 20
    assert max(ahead) == 2 * 2 + 1, "chunks of two files, two a worker and one more"


def test_little_work_needs_one_process(tmp_path, tokenizer_path):
    before = child_processes()
    results = parse_files(parser(tmp_path, tokenizer_path), tree(tmp_path), 2)
    next(results)
    assert len(child_processes() - before) == 1
    assert len(list(results)) == 11
    assert len(child_processes() - before) == 1, "it stays for the next small job"
    end_ready()
    assert child_processes() <= before


def test_one_worker_parses_all_files(tmp_path, tokenizer_path, always_workers):
    assert len(list(parse_files(parser(tmp_path, tokenizer_path), tree(tmp_path), 1))) == 12


def test_a_deleted_file_gives_none(tmp_path, tokenizer_path, many_chunks):
    files = tree(tmp_path)
    (tmp_path / "f03.py").unlink()
    results = dict(parse_files(parser(tmp_path, tokenizer_path), files, 2))
    assert [file.path for file, parsed in results.items() if parsed is None] == ["f03.py"]


def test_a_crash_costs_one_warning_for_one_file(tmp_path, tokenizer_path, many_chunks):
    """The first file, one in the middle and the last one crash, and one of them also as plain text."""
    files = tree(tmp_path, "crash1.py", "crash_hopeless.py", "f07crash.py", "z_crash.py")
    results = list(parse_files(parser(tmp_path, tokenizer_path, CrashingParser), files, 2))
    assert [file.path for file, _ in results] == [file.path for file in files]
    parsed = {file.path: result for file, result in results}
    assert parsed.pop("crash_hopeless.py").record.skipped == LEFT_OUT
    for name in ("crash1.py", "f07crash.py", "z_crash.py"):
        plain = parsed.pop(name)
        assert plain.record.skipped == ONLY_BLOCKS
        assert plain.record.warnings == f"{name}: {TOO_COSTLY.format('python')}"
        assert [(row[0], row[1]) for row in plain.rows] == [("function", Path(name).stem)]
    assert all(len(result.rows) == 1 and not result.record.warnings for result in parsed.values())


class StillbornParser(FileParser):
    """Simulate workers that cannot start: they end when they receive it."""

    def __setstate__(self, state: object) -> None:
        os._exit(1)


def test_processes_that_cannot_start_are_one_error_that_blames_no_file(tmp_path, tokenizer_path, many_chunks):
    files = tree(tmp_path)
    with pytest.raises(IndexStoreError, match=r"before their first task.*run `codesearch index` again$"):
        list(parse_files(parser(tmp_path, tokenizer_path, StillbornParser), files, 2))


def test_an_index_is_built_without_a_file_that_crashes_the_parser(
    tmp_path, monkeypatch, many_chunks, index_tree
):
    tree(tmp_path / "src", "crash.py", "crash_hopeless.py")
    monkeypatch.setattr(build_module, "FileParser", CrashingParser)
    manifest = index_tree(tmp_path / "src").manifest
    assert (manifest.documents, manifest.source_files) == (13, 14)
    assert manifest.not_indexed == {"crashed": {".py": 1}, "only as blocks": {".py": 1}}
    assert manifest.warnings == [
        f"crash.py: {TOO_COSTLY.format('python')}",
        "crash_hopeless.py: the python parser crashed or takes too much time or memory: left out",
    ]


def test_a_file_that_crashed_is_not_tried_again_until_it_changes(tmp_path, tokenizer_path, many_chunks):
    files = [file for file in tree(tmp_path, "crash_hopeless.py") if "crash" in file.path]
    ((_, parsed),) = parse_files(parser(tmp_path, tokenizer_path, CrashingParser), files, 2)
    assert parsed.record.digest == content_digest((tmp_path / "crash_hopeless.py").read_bytes())


@pytest.mark.skipif(sys.platform != "linux", reason="needs the limits of Linux")
@pytest.mark.parametrize(
    ("size", "left_s", "max_bytes", "seconds"),
    [
        (0, 60, 900_000_000, 4),
        (1_000_000, 60, 900_000_000, 14),
        (8_000_000, 60, 900_000_000, 30),
        (8_000_000, 20, 900_000_000, 20),
        (8_000_000, -5, 900_000_000, 12.5),
        (100_000_000, 60, 4_000_000_000, 150.5),
    ],
)
def test_a_file_has_time_by_its_size_and_by_what_the_run_has_lost(
    monkeypatch, size, left_s, max_bytes, seconds
):
    limits = {}
    monkeypatch.setattr(parse.signal, "setitimer", lambda timer, value: limits.update(seconds=value))
    monkeypatch.setattr(parse.resource, "setrlimit", lambda what, values: limits.update(bytes=values[0]))
    monkeypatch.setattr(parse, "memory_budget_bytes", lambda: max_bytes)
    parse.limit_file(size, left_s)
    assert limits["seconds"] == seconds
    assert limits["bytes"] == min(parse._data_bytes() + 400_000_000 + 250 * size, max_bytes)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("content", [None, b""])
def test_memory_is_limited_where_there_is_no_proc(monkeypatch, tmp_path, content):
    statm = tmp_path / "statm"
    if content is not None:
        statm.write_bytes(content)
    monkeypatch.setattr("builtins.open", lambda path, mode, opened=open: opened(statm, mode))
    assert 1_000_000 < parse._data_bytes() < 4_000_000_000


class SlowParser(FileParser):
    """Simulate files on which a parser takes too long; count the attempts."""

    def parse(self, file: SourceFile, *, is_plain: bool = False) -> ParsedFile | None:
        if "slow" in file.path and not is_plain:
            with open(self.root / "attempts", "a") as attempts:
                attempts.write(f"{file.path}\n")
            signal.setitimer(signal.ITIMER_PROF, 0.05)
            while True:
                pass
        return super().parse(file, is_plain=is_plain)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a limit of processor time")
def test_a_run_loses_only_so_much_time_at_slow_files_and_tries_none_again(
    tmp_path, tokenizer_path, monkeypatch
):
    monkeypatch.setattr(parse, "CHUNK_FILES", 1)
    monkeypatch.setattr(parse, "LOST_S", 0.06)
    slow = ["slow0.py", "slow1.py", "slow2.py"]
    files = tree(tmp_path, *slow)
    results = list(parse_files(parser(tmp_path, tokenizer_path, SlowParser), files, 1))
    warned = [file.path for file, parsed in results if parsed.record.warnings]
    assert warned == slow
    attempts = (tmp_path / "attempts").read_text().split("\n")[:-1]
    assert attempts == warned, "what went over its time is cut at once"


def test_a_reader_that_stops_early_leaves_no_process(tmp_path, tokenizer_path, many_chunks):
    before = child_processes()
    results = parse_files(parser(tmp_path, tokenizer_path), tree(tmp_path), 2)
    next(results)
    results.close()
    until(lambda: child_processes() <= before)
