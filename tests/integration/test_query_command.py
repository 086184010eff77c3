"""`codesearch query`: each output format, filters, and exit codes 0, 1 and 2."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from codesearch.types import KINDS
from tests.command import Command
from tests.conftest import TINY_REPO, break_format, index_by_engine, write_tree


@pytest.fixture(scope="module")
def ask(tmp_path_factory, tiny_bundle) -> Command:
    """Return the command in a folder with an indexed tiny repository, which the tests here only read."""
    folder = tmp_path_factory.mktemp("query")
    index_by_engine(write_tree(folder / "tiny", TINY_REPO), folder / "home", tiny_bundle)
    return Command(folder, folder / "home")


def test_output_for_programs_has_the_code_and_what_is_not_shown(ask):
    done = ask("query", "--all", "convert", "int", "to", "string", "-k", "1")
    assert (done.returncode, done.stderr) == (0, "")
    *lines, last = done.stdout.splitlines()
    assert lines == [
        "tiny/python/convert.py:4-6 int_to_string",
        "4: def int_to_string(number: int) -> str:",
        '5:     """Convert an integer to its decimal string."""',
        "6:     return str(number)",
    ]
    assert re.fullmatch(
        r"not shown: weaker hits: python/convert.py:9 string_to_int, .*, more with -n 30", last
    )
    assert "\x1b" not in done.stdout
    assert ask("query", "--all", "int_to_string").stdout.splitlines()[4:] == ["this is all"]


def test_text_with_scores_or_context_shows_place_signature_code_and_footer(ask):
    done = ask(
        "query", "--all", "convert", "int", "to", "string", "-k", "1", "-C", "0", "--color", "never", "--full"
    )
    assert (done.returncode, done.stderr) == (0, "")
    *lines, footer = done.stdout.splitlines()
    assert lines == [
        "tiny/python/convert.py:4  int_to_string  function, 3 lines",
        "       4 | def int_to_string(number: int) -> str:",
        '       5 |     """Convert an integer to its decimal string."""',
        "       6 |     return str(number)",
        "       9   string_to_int  function, 3 lines",
        "",
    ]
    assert re.fullmatch(r"1 hit from 13 documents in \d+ ms", footer)
    assert "\x1b" not in done.stdout


def test_an_exact_text_may_be_outside_of_definitions_and_few_lines_say_what_was_not_seen(ask):
    done = ask("query", "--all", "-F", "package reader")
    note = "note: 1 line in 1 indexed file has the text; outside of definitions: tiny/go/reader.go:1\n"
    assert (done.returncode, done.stderr) == (0, note)
    for text, is_few in (("self.items.append(", True), ("return", False)):
        done = ask("query", "--all", "-F", text, "--no-refresh")
        assert done.stderr.endswith("note: not seen: 1 index not compared with the folder\n") == is_few


def test_json_is_one_document_with_every_field_of_each_hit(ask):
    done = ask("query", "--all", "push", "-k", "2", "--json")
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
    assert set(hit.pop("parts")) >= {"vectors", "keywords", "name"}
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
        "copies": [],
        "copy_count": 0,
        "others": [],
        "passages": [],
        "last_line": 19,
    }


def test_filters_and_modes_are_taken_from_options(ask):
    options = ("--lang", "python", "--lang", "ruby", "--kind", "method", "--path", "ruby/*")
    done = ask("query", "--all", "push", "--vimgrep", "--mode", "lexical", *options)
    assert done.stdout.splitlines() == ["tiny/ruby/queue.rb:4:1:def push(element, priority)"]


@pytest.mark.parametrize(
    ("folder", "globs", "expected"),
    [
        ("tiny/ruby", ["./*"], ["queue.rb"]),
        (".", ["{folder}/tiny/ruby"], ["queue.rb"]),
        (".", ["!ruby/", "!*.go", "!j*", "!php"], ["convert.py"]),
    ],
)
def test_globs_are_relative_to_the_working_directory_or_root_or_absolute_and_can_exclude(
    ask, folder, globs, expected
):
    options = [word for glob in globs for word in ("--path", glob.format(folder=ask.folder))]
    done = ask("query", "push", "--all", "--jsonl", *options, cwd=ask.folder / folder)
    assert {Path(json.loads(line)["path"]).name for line in done.stdout.splitlines()} == set(expected)


@pytest.mark.parametrize(
    ("folder", "words", "query", "expected"),
    [
        (".", ["push", "tiny/ruby"], "push", ["queue.rb"]),
        (
            ".",
            ["push", "item", "tiny/ruby/", "tiny/python/convert.py"],
            "push item",
            ["queue.rb", "convert.py"],
        ),
        ("tiny/python", ["push", "../ruby"], "push", ["queue.rb"]),
        (".", ["push", "{folder}/tiny/ruby"], "push", ["queue.rb"]),
    ],
)
def test_trailing_files_and_folders_limit_the_answers(ask, folder, words, query, expected):
    words = [word.format(folder=ask.folder) for word in words]
    done = ask("query", *words, "--json", cwd=ask.folder / folder)
    answer = json.loads(done.stdout)
    assert (done.returncode, done.stderr, answer["query"]) == (0, "", query)
    assert {Path(hit["path"]).name for hit in answer["hits"]} == set(expected)


@pytest.mark.parametrize(
    "words",
    [
        ["push", "ruby"],
        ["push", "client/server"],
        ["push", "gone.py"],
        ["ruby/", "push"],
        ["ruby/"],
        ["push ruby/"],
    ],
    ids=" ".join,
)
def test_other_words_are_part_of_the_query(ask, words):
    answer = json.loads(ask("query", *words, "--json", cwd=ask.folder / "tiny").stdout)
    assert (answer["query"], len(answer["hits"])) == (" ".join(words), 5)


def test_the_query_can_come_from_stdin(ask):
    words = ask("query", "--all", "def push(self, item):", "--vimgrep", "-k", "2").stdout
    for line in (("-", "--all"), ("--all", "-")):
        done = ask("query", *line, "--vimgrep", "-k", "2", input="\n  def push(self, item):\n\n")
        assert (done.returncode, done.stdout) == (0, words)
    limited = ask("query", "-", "tiny/ruby", "--vimgrep", "-k", "1", input="push")
    assert limited.stdout == "tiny/ruby/queue.rb:4:1:def push(element, priority)\n"
    assert ask("query", "push", "-", "tiny/ruby", "--compact", input="unread").returncode == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "query '' has no words to search for"),
        (
            "x " * 40_000,
            "the query on stdin has more than 64,000 bytes: give a part of it, such as one function",
        ),
    ],
)
def test_a_query_on_stdin_that_cannot_be_used_is_a_one_line_error(ask, text, message):
    assert ask.fails("query", "--all", "-", input=text) == f"error: {message}\n"


def test_a_file_or_folder_that_no_index_covers_is_an_error(ask, tmp_path):
    assert ask.fails("query", "push", f"{tmp_path}/", cwd=ask.folder / "tiny").startswith(
        f"error: no index covers {tmp_path}: run `codesearch index .` there, or "
    )


def test_a_query_without_hits_exits_one_with_a_message(ask):
    done = ask("query", "--all", "qzxv", "--mode", "lexical")
    assert (done.returncode, done.stderr) == (1, 'note: no definition here has "qzxv"\n')
    assert done.stdout.startswith("no hits from 13 documents in ")
    done = ask("query", "--all", "qzxv", "--mode", "lexical", "--jsonl")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


@pytest.mark.parametrize("form", [(), ("--json",), ("--jsonl",), ("--vimgrep",)], ids=str)
def test_filters_that_no_document_passes_are_named(ask, form):
    filters = ("--lang", "go", "--path", "x*", "--path", "!y", "--kind", "class")
    done = ask("query", "push", *filters, *form, cwd=ask.folder / "tiny")
    assert done.returncode == 1
    assert done.stderr == (
        f"no document matches --lang go --kind class --path 'x*' --path '!y' in {ask.folder}/tiny\n"
    )
    assert done.stdout == "" or form == ("--json",) or done.stdout.startswith("no hits from 13 documents")


def test_places_without_documents_are_named_as_they_were_typed(ask):
    (ask.folder / "tiny" / "no documents").mkdir(exist_ok=True)
    done = ask("query", "push", "./tiny/no documents")
    assert (done.returncode, done.stderr) == (
        1,
        f"no document matches './tiny/no documents' in {ask.folder}/tiny\n",
    )


@pytest.mark.parametrize("place", ["absent/", "./absent", "tiny/absent.py", "/absent/folder", "tiny/absent"])
def test_a_place_that_does_not_exist_is_named_and_becomes_words(ask, place):
    done = ask("query", "push", "--all", place)
    assert (done.returncode, done.stderr) == (
        0,
        f"note: {place} does not exist: it is searched for as words\n",
    )
    assert ask("query", "--all", "push", "and/or", "/", "node.js", "a", place.strip("./")[:4]).stderr == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["?!"], "query '?!' has no words to search for"),
        (["x", "--context", "-1"], "--context must be from 0 to 1,000,000, not -1"),
        (["x", "--min-confidence", "nan"], "--min-confidence must be from 0 to 1, not nan"),
        (["x", "--json", "--jsonl"], "--json and --jsonl exclude each other: give only one"),
        (["x", "--device", "tpu"], "--device must be one of auto, cpu, cuda, not 'tpu'"),
        (["x", "--lang", "pyton"], "unknown language 'pyton': did you mean python?"),
        (["x", "--kind", "macro"], f"unknown kind 'macro': choose one of {', '.join(KINDS)}"),
        (["x", "--root", "absent"], "absent is no folder and no imported index: see `codesearch status`"),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_an_invalid_query_is_a_one_line_error_and_exits_two(ask, arguments, message):
    assert ask.fails("query", "--all", *arguments) == f"error: {message}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "missing argument 'TEXT... [PATH]...'"),
        (["x", "--path"], "option '--path' requires an argument"),
        (["x", "--\x1b[2J"], "no such option: --\\x1b[2J"),
    ],
    ids=["no text", "no value", "unknown option"],
)
def test_a_usage_error_is_one_line_that_names_the_help(ask, arguments, message):
    assert re.fullmatch(
        rf"error: {re.escape(message)}: see `codesearch( query)? --help`\n", ask.fails("query", *arguments)
    )


def test_a_wrong_colour_is_noticed_before_anything_is_indexed(command, tmp_path, home):
    (tmp_path / "pyproject.toml").touch()
    done = command("query", "x", "--color", "purple", cwd=tmp_path)
    assert done.stderr == "error: --color must be one of auto, always, never, not 'purple'\n"
    assert not home.exists()


def _untimed(out: str) -> str:
    return re.sub(r"\d+ ms", "N ms", out)


@pytest.mark.parametrize("words", [("query", "push"), ("similar", "tiny/python/convert.py:5")])
def test_an_index_of_an_earlier_version_is_rebuilt_by_the_first_query(indexed, command, home, words):
    (index,) = home.glob("indexes/*")
    command = replace(command, variables={"CODESEARCH_AUTO_INDEX": ""})
    expected = command(*words, "--root", "tiny").stdout
    break_format(index, 4)
    done = command(*words, "--root", "tiny")
    assert (done.returncode, _untimed(done.stdout)) == (0, _untimed(expected))
    first, second = done.stderr.splitlines()
    assert first.startswith(f"indexed {indexed}: 13 documents in ")
    assert second == f"note: an earlier version of codesearch made the index of {indexed}; it was made again"
    assert command(*words, "--root", "tiny").stderr == ""


def test_an_index_of_an_earlier_version_is_not_rebuilt_if_the_user_forbids_it(indexed, command, home):
    (index,) = home.glob("indexes/*")
    break_format(index, 4)
    assert "index format 4" in command.fails("query", "push", "--root", "tiny")


def test_a_bundle_that_was_moved_away_is_named(indexed, command, home):
    (manifest,) = home.glob("indexes/*/manifest.json")
    fields = json.loads(manifest.read_text())
    fields["model"]["folder"] = str(home / "moved")
    del fields["checksum"]  # A manifest without one is not checked.
    manifest.write_text(json.dumps(fields))
    assert command.fails("query", "--all", "push") == (
        f"error: {home}/moved: no model bundle there: name its folder with --model; `index --rebuild` "
        "forgets a folder that an index remembers\n"
    )


def test_hits_show_the_current_files(indexed, command):
    path = indexed / "python" / "convert.py"
    path.write_text("# moved\n" + path.read_text())
    done = command("query", "--all", "pop", "-k", "1")
    assert "tiny/python/convert.py:22-24 Stack.pop\n22: def pop(self):\n" in done.stdout
    path.unlink()
    hits = json.loads(command("query", "--all", "pop", "--json").stdout)["hits"]
    assert "Stack.pop" not in {hit["qualified_name"] for hit in hits}


def test_without_a_refresh_a_changed_file_is_marked_and_a_deleted_one_is_not_shown(indexed, command):
    path = indexed / "python" / "convert.py"
    path.write_text("# moved\n" + path.read_text())
    done = command("query", "--all", "pop", "-k", "1", "--no-refresh")
    assert "Stack.pop  [changed since it was indexed]" in done.stdout
    path.unlink()
    hits = json.loads(command("query", "--all", "pop", "--json", "--no-refresh").stdout)["hits"]
    assert hits and "python/convert.py" not in {hit["path"] for hit in hits}


def test_an_update_that_would_take_long_is_a_one_line_note(indexed, command):
    for number in range(8):
        (indexed / f"many{number}.py").write_text(
            "".join(f"def f{n}():\n    return {n}\n" for n in range(4_000))
        )
    done = command("query", "--all", "pop", "-k", "1", "--vimgrep")
    assert done.stdout == "tiny/python/convert.py:21:1:def pop(self)\n"
    assert (
        done.stderr
        == f"note: 8 files changed since {indexed} was indexed: run `codesearch index {indexed}`\n"
    )


def test_a_closed_pipe_is_not_an_error(ask):
    import subprocess

    with ask.start("query", "--all", "push", "-k", "13", "-C", "500", stdout=-1, stderr=-1) as query:
        head = subprocess.run(["head", "-1"], stdin=query.stdout, capture_output=True, check=True)
        query.stdout.close()
        assert query.stderr.read() == b""
        assert query.wait() == 0
    assert b"tiny/python/convert.py:17  Stack.push  method" in head.stdout


def test_full_shows_a_class_with_its_members(ask):
    shown = ask("query", "--all", "class Stack", "--full", "-k", "1").stdout
    assert "tiny/python/convert.py:14  Stack  class, 10 lines\n" in shown
    assert (
        "      17 |     def push(self, item):\n" in shown
        and "      23 |         return self.items.pop()\n" in shown
    )


@pytest.mark.parametrize(
    ("text", "is_said"),
    [("foo.*bar", True), (r"\bread\w+", True), ("java.util.*", False), (r"src\docs", False)],
)
def test_a_regular_expression_is_told_what_to_use(ask, text, is_said):
    assert ("a query is no regular expression" in ask("query", "--all", text).stderr) == is_said
