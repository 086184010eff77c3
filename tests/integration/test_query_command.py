"""`codesearch query`: each form of output, filters, and exit codes 0, 1 and 2."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from codesearch.index.manifest import FORMAT_VERSION
from codesearch.types import KINDS
from tests.command import Command
from tests.conftest import TINY_REPO, break_format, index_by_engine, write_tree


@pytest.fixture(scope="module")
def ask(tmp_path_factory, tiny_bundle) -> Command:
    """The command beside one indexed tiny repository, which the tests here only read."""
    folder = tmp_path_factory.mktemp("query")
    index_by_engine(write_tree(folder / "tiny", TINY_REPO), folder / "home", tiny_bundle)
    return Command(folder, folder / "home")


def test_plain_output_shows_place_signature_code_and_footer(ask):
    done = ask("query", "convert", "int", "to", "string", "-k", "1")
    assert (done.returncode, done.stderr) == (0, "")
    *lines, footer = done.stdout.splitlines()
    assert re.fullmatch(r" 1  \d\.\d{3}  tiny/python/convert\.py:4  function int_to_string", lines[0])
    assert lines[1:] == [
        "    def int_to_string(number: int) -> str",
        "       4 | def int_to_string(number: int) -> str:",
        '       5 |     """Convert an integer to its decimal string."""',
        "       6 |     return str(number)",
        "",
    ]
    assert re.fullmatch(r"1 answer from 13 documents in \d+ ms, tiny on cpu", footer)
    assert "\x1b" not in done.stdout


def test_json_is_one_document_with_everything_about_each_answer(ask):
    done = ask("query", "push", "-k", "2", "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert {name: answer[name] for name in ("query", "mode", "model", "device", "documents")} == {
        "query": "push",
        "mode": "hybrid",
        "model": "tiny",
        "device": "cpu",
        "documents": 13,
    }
    assert answer["seconds"] > 0
    hit = answer["hits"][0]
    assert hit.pop("score") > answer["hits"][1]["score"]
    assert set(hit.pop("signals")) >= {"cosine", "bm25", "bm25_normalised", "name"}
    assert hit == {
        "rank": 1,
        "root": str(ask.folder / "tiny"),
        "path": "python/convert.py",
        "language": "python",
        "kind": "method",
        "name": "push",
        "qualified_name": "Stack.push",
        "signature": "def push(self, item)",
        "docstring": "Put an item on top.",
        "start_line": 17,
        "end_line": 19,
        "code": '    def push(self, item):\n        """Put an item on top."""\n        self.items.append(item)',
        "stale": False,
        "before": [],
        "after": [],
    }


def test_jsonl_is_one_object_an_answer_in_order(ask):
    lines = ask("query", "push", "-k", "3", "--jsonl").stdout.splitlines()
    hits = [json.loads(line) for line in lines]
    assert [hit["rank"] for hit in hits] == [1, 2, 3]
    assert [hit["qualified_name"] for hit in hits[:2]] == ["Stack.push", "PriorityQueue.push"]


def test_vimgrep_lines_are_path_line_column_and_signature(ask):
    assert ask("query", "push", "-k", "2", "--vimgrep").stdout.splitlines() == [
        "tiny/python/convert.py:17:1:def push(self, item)",
        "tiny/ruby/queue.rb:4:1:def push(element, priority)",
    ]


def test_paths_are_shown_from_the_working_directory_else_absolute(ask, tmp_path):
    inside = ask("query", "pop", "-k", "1", "--vimgrep", cwd=ask.folder / "tiny" / "python")
    assert inside.stdout == "convert.py:21:1:def pop(self)\n"
    outside = ask("query", "pop", "-k", "1", "--vimgrep", cwd=tmp_path)
    assert outside.stdout == f"{ask.folder}/tiny/python/convert.py:21:1:def pop(self)\n"


def test_context_shows_lines_of_the_file_around(ask):
    done = ask("query", "getJson", "-k", "1", "--context", "2")
    shown = [line.split(" | ") for line in done.stdout.splitlines() if " | " in line]
    assert [(int(number), text) for number, text in shown] == [
        (2, " * Send an HTTP GET request and parse the JSON answer."),
        (3, " */"),
        (4, "function getJson(url) {"),
        (5, "  return fetch(url).then((response) => response.json());"),
        (6, "}"),
        (7, ""),
    ]


def test_explain_shows_what_each_signal_gave(ask):
    lines = ask("query", "getJson", "-k", "1", "--explain").stdout.splitlines()
    assert re.fullmatch(
        r"    cosine \d\.\d{3}  length_prior 0\.\d{3}  bm25 \d\.\d{3}  bm25_normalised 0\.\d{3}  name 1\.000.*",
        lines[2],
    )


def test_filters_and_modes_are_taken_from_options(ask):
    options = ("--lang", "python", "--lang", "ruby", "--kind", "method", "--path", "ruby/*")
    done = ask("query", "push", "--vimgrep", "--mode", "lexical", *options)
    assert done.stdout.splitlines() == ["tiny/ruby/queue.rb:4:1:def push(element, priority)"]


def test_no_answer_exits_one_and_says_so(ask):
    done = ask("query", "push", "--path", "*.absent")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("no answers from 13 documents in ")
    done = ask("query", "push", "--path", "*.absent", "--jsonl")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["?!"], "query '?!' has no words to search for"),
        (["x", "-k", "0"], "--top-k must be at least 1, not 0"),
        (["x", "--context", "-1"], "--context must not be negative, as -1 is"),
        (["x", "--json", "--jsonl"], "--json, --jsonl and --vimgrep exclude each other: give one"),
        (["x", "--mode", "fuzzy"], "mode 'fuzzy': choose one of hybrid, lexical, semantic"),
        (["x", "--kind", "macro"], f"kind 'macro': choose one of {', '.join(KINDS)}"),
        (["x", "--root", "absent"], "absent is not indexed: run `codesearch index absent` first"),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_what_cannot_be_asked_is_one_line_and_exits_two(ask, arguments, message):
    done = ask("query", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {message}\n")


def test_a_missing_argument_exits_two(ask):
    done = ask("query")
    assert done.returncode == 2
    assert "Missing argument" in done.stderr


def test_nothing_indexed_yet_names_the_first_step(command, home):
    done = command("query", "push")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: nothing is indexed in {home}: run `codesearch index FOLDER` first\n"


def test_an_index_of_another_format_names_the_cure(indexed, command, home):
    (index,) = home.glob("indexes/*")
    break_format(index)
    done = command("query", "push", "--root", "tiny")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == f"error: index format 99, expected {FORMAT_VERSION}: run `codesearch index {indexed}` again\n"
    )


def test_an_index_with_a_cut_file_names_file_and_cure(indexed, command, home):
    (path,) = home.glob("indexes/*/generation-*/vectors.int8")
    path.write_bytes(path.read_bytes()[:-1])
    done = command("query", "push")
    assert done.returncode == 2
    assert done.stderr == (
        f"error: {path}: 415 bytes, expected 416: run `codesearch index --rebuild {indexed}`\n"
    )


def test_a_bundle_that_was_moved_away_is_named(indexed, command, home):
    (manifest,) = home.glob("indexes/*/manifest.json")
    fields = json.loads(manifest.read_text())
    fields["model"]["folder"] = str(home / "moved")
    manifest.write_text(json.dumps(fields))
    done = command("query", "push")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {home}/moved: no model bundle there: give the folder of a manifest.json\n"


def test_changed_and_deleted_files_are_marked_in_the_answer(indexed, command):
    path = indexed / "python" / "convert.py"
    path.write_text("# moved\n" + path.read_text())
    done = command("query", "pop", "-k", "1")
    assert "method Stack.pop  [changed since it was indexed]" in done.stdout
    assert '      22 |     """Take the top item off."""' not in done.stdout
    path.unlink()
    (hit,) = json.loads(command("query", "pop", "-k", "1", "--json").stdout)["hits"]
    assert (hit["stale"], hit["code"]) == (True, "")


def test_a_reader_that_closes_the_pipe_is_no_error(ask):
    import subprocess

    with ask.start("query", "push", "-k", "13", "-C", "500", stdout=-1, stderr=-1) as query:
        head = subprocess.run(["head", "-1"], stdin=query.stdout, capture_output=True, check=True)
        query.stdout.close()
        assert query.stderr.read() == b""
        assert query.wait() == 0
    assert b"tiny/python/convert.py:17  method Stack.push" in head.stdout


def test_output_that_cannot_be_written_is_an_error(ask):
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    with full.open("w") as output, ask.start("query", "push", stdout=output, stderr=-1) as query:
        assert query.stderr.read() == b"error: output: No space left on device\n"
        assert query.wait() == 2
