"""Commits become questions with the functions that they changed, as they were before."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codesearch.evaluation.jsonl import read_jsonl
from training.errors import TrainingError
from training.history.build import build_history, partition_of
from training.history.evaluation import read_evaluated
from training.history.functions import changed_lines, product_language
from training.history.mine import mine
from training.history.repository import Objects, Repository, find_repositories
from training.history.subjects import FOREIGN, UPKEEP, clean_subject, first_paragraph_of, reason_of_subject
from training.history.words import Words

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
WORDS = Words(1_000_000, {})
FILE = '''"""Sockets."""


def open_socket(host, port):
    """Open a socket."""
    address = (host, port)
    return connect(address)


def close_socket(socket):
    socket.flush()
    socket.shutdown()
    return socket.close()


def read_line(socket):
    line = b""
    while not line.endswith(b"\\n"):
        line += socket.recv(1)
    return line
'''
OTHER = """
def parse_header(line):
    name, _, value = line.partition(":")
    return name.strip(), value.strip()
"""


class Clone:
    """A repository to which tests commit."""

    def __init__(self, folder: Path, name: str = "owner/sockets") -> None:
        self.folder = folder / name
        self.folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        self.commit("first", **{"net/socket.py": FILE, "net/header.py": OTHER, "tests/test_socket.py": FILE})

    @property
    def repository(self) -> Repository:
        return Repository("owner/sockets", self.folder / ".git")

    def git(self, *arguments: str, author: str = "a") -> str:
        own = ("-c", f"user.name={author}", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false")
        variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(
            ["git", *own, *arguments], cwd=self.folder, env=variables, check=True, capture_output=True
        )
        return done.stdout.decode().strip()

    def commit(self, message: str, *, author: str = "a", **files: str) -> str:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        self.git("add", ".")
        self.git("commit", "-q", "-m", message, author=author)
        return self.git("rev-parse", "HEAD")

    def change(
        self, message: str, old: str, new: str, *, path: str = "net/socket.py", author: str = "a"
    ) -> str:
        text = (self.folder / path).read_text("utf-8")
        assert old in text
        return self.commit(message, author=author, **{path: text.replace(old, new)})


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path / "clones")


@pytest.fixture
def mined(clone: Clone, tmp_path: Path) -> Callable[[], tuple[list[dict[str, Any]], dict[str, int]]]:
    """Return a function that mines the clone: its rows and what was dropped."""

    def run() -> tuple[list[dict[str, Any]], dict[str, int]]:
        result = mine(clone.repository, WORDS, tmp_path, 1_000)
        rows = [row for _, row in read_jsonl(tmp_path / "owner+sockets.jsonl.zst")]
        assert result.pairs == len(rows)
        return rows, {reason: count for reason, count in result.dropped.items() if count}

    return run


CLOSE = ("socket.shutdown()", "socket.shutdown(2)")
TITLE = "fix(net): wait for unsent bytes before hanging up (#12)"


def test_a_commit_becomes_a_question_with_the_function_of_the_tree_before_it(clone, mined):
    commit = clone.change(f"{TITLE}\n\nSome servers drop what was not sent in time.\n\nFixes: #3", *CLOSE)
    rows, _ = mined()
    assert [(row["query"], row["func_name"]) for row in rows] == [
        ("wait for unsent bytes before hanging up", "close_socket")
    ]
    row = rows[0]
    assert row["commit"] == commit
    assert (row["repo"], row["path"], row["language"]) == ("owner/sockets", "net/socket.py", "python")
    assert "socket.shutdown()" in row["code"]
    assert row["body"] == "Some servers drop what was not sent in time."
    assert (row["functions"], row["weight"], row["context"]) == (1, 1.0, "Sockets.")


def test_the_wrong_answers_are_unchanged_functions_of_the_file_and_of_its_neighbours(clone, mined):
    clone.change(TITLE, *CLOSE)
    [row] = mined()[0]
    assert sorted((it["path"], it["func_name"]) for it in row["negatives"]) == [
        ("net/header.py", "parse_header"),
        ("net/socket.py", "open_socket"),
        ("net/socket.py", "read_line"),
    ]


def test_inserted_lines_belong_to_the_function_around_them_and_new_functions_to_none(clone, mined):
    added = "\n\ndef send_line(socket, line):\n    socket.send(line)\n    return len(line)\n"
    clone.commit(
        "Limit how long a line of a request may become",
        **{
            "net/socket.py": FILE.replace(
                "recv(1)\n", "recv(1)\n        if len(line) > 80:\n            raise TooLong\n"
            )
            + added
        },
    )
    [row] = mined()[0]
    assert (row["func_name"], row["weight"]) == ("read_line", 0.4)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Bump the version of sockets to two", UPKEEP),
        ("style(net): wrap lines of the socket module", UPKEEP),
        ("Fix typo in the name of a host address", UPKEEP),
        ("Fix bug", "vague"),
        ("关闭套接字之前等待未发送的字节 socket", FOREIGN),
    ],
)
def test_messages_that_are_no_questions_are_dropped(clone, mined, message, reason):
    clone.change(message, *CLOSE)
    rows, dropped = mined()
    assert rows == []
    assert dropped[reason] >= 1


def test_commits_of_bots_and_the_same_message_again_are_dropped(clone, mined):
    clone.change("Wait for unsent bytes at the end", *CLOSE, author="renovate[bot]")
    clone.change("Retry a connection that was refused", "connect(address)", "connect(address, 3)")
    clone.change("Retry the connections that was refused", "connect(address, 3)", "connect(address, 5)")
    rows, dropped = mined()
    assert [row["query"] for row in rows] == ["Retry the connections that was refused"]
    assert dropped["by a bot"] == dropped["message of another commit"] == 1


def test_changes_of_white_space_comments_and_tests_are_no_answers(clone, mined):
    clone.change("Wait for unsent bytes at the end", "socket.flush()", "socket.flush( )  ")
    clone.change("Explain why a line is read by bytes", 'line = b""', '# One by one.\n    line = b""')
    clone.change("Read lines of any encoding from sockets", "recv(1)", "recv(2)", path="tests/test_socket.py")
    rows, dropped = mined()
    assert rows == []
    assert dropped["no function changed"] == 2
    assert dropped["no code changed"] >= 1


def test_a_commit_that_changes_more_than_five_functions_has_too_many_topics(clone, mined):
    body = "def f{0}(value):\n    result = value + {0}\n    return result\n\n\n"
    many = "".join(body.format(number) for number in range(6))
    clone.commit("Prepare some numbers for later", **{"net/many.py": many})
    clone.change("Add numbers in another order everywhere", "value + ", "value * ", path="net/many.py")
    rows, dropped = mined()
    assert rows == []
    assert dropped["more than 5 functions"] == 1


def test_a_small_part_of_a_large_commit_is_no_answer(clone, mined):
    lines = "".join(f"    total += {number}\n" for number in range(40))
    new = {"net/sum.py": f"def add_up(total):\n{lines}    return total\n"}
    clone.commit("Count all bytes that were sent", **new, **{"net/socket.py": FILE.replace(*CLOSE)})
    rows, dropped = mined()
    assert rows == []
    assert dropped["small part of a commit"] == 1


def test_a_function_has_at_most_four_questions(clone, mined):
    topics = "timeouts retries encodings proxies redirects cookies".split()
    for number, topic in enumerate(topics):
        clone.change(f"Consider {topic} of slow remote servers", f"recv({number + 1})", f"recv({number + 2})")
    rows, dropped = mined()
    assert len(rows) == 4
    assert dropped["function with enough questions"] == 2


def test_repositories_are_found_bare_or_not_and_named_by_their_folders(clone, tmp_path):
    clones = tmp_path / "clones"
    clone.git("clone", "-q", "--bare", str(clone.folder), str(clones / "owner+bare" / "repo"))
    clone.git("clone", "-q", "--bare", str(clone.folder), str(clones / "other" / "it.git"))
    assert [found.name for found in find_repositories(clones)] == ["other/it", "owner/bare", "owner/sockets"]


def test_nothing_of_a_repository_is_run(clone, mined, tmp_path):
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/owned\ncat\n")
    trap.chmod(0o755)
    (clone.folder / ".gitattributes").write_text("*.py diff=trap filter=trap\n")
    clone.change(TITLE, *CLOSE)
    names = "core.pager pager.log core.fsmonitor diff.external diff.trap.command diff.trap.textconv filter.trap.smudge"
    for name in f"{names} filter.trap.clean gpg.program core.sshCommand core.alternateRefsCommand".split():
        clone.git("config", name, str(trap))
    for name in ("log.showSignature", "filter.trap.required", "remote.origin.promisor"):
        clone.git("config", name, "true")
    assert len(mined()[0]) == 1
    with Objects(clone.repository) as objects:
        assert objects.read("0" * 40) == b""
    assert not (tmp_path / "owned").exists()


def test_a_missing_object_and_a_name_that_does_not_resolve_are_empty(clone):
    with Objects(clone.repository) as objects:
        assert [objects.read(name) for name in ("nothing", "HEAD:missing.py", "HEAD^^^:net")] == [b""] * 3
        assert objects.read("HEAD:net/header.py") == OTHER.encode()


def test_a_repository_with_a_commit_of_an_evaluation_set_is_left_out_under_any_name(clone, tmp_path):
    data = tmp_path / "data"
    (data / "histories").mkdir(parents=True)
    task = {"tree": "sockets2@" + "0" * 10, "commit": clone.git("rev-parse", "HEAD")[:12]}
    (data / "histories" / "tasks.jsonl").write_text(json.dumps(task) + "\n")
    assert read_evaluated(data).has(clone.repository)
    assert not read_evaluated(None).has(clone.repository)
    assert read_evaluated(None).has(Repository("somebody/mitmproxy", clone.repository.folder))


def test_a_stopped_run_continues_and_a_broken_repository_is_left_out(clone, tmp_path, caplog):
    clone.change(TITLE, *CLOSE)
    broken = tmp_path / "clones" / "owner" / "broken"
    for name in ("objects", "refs"):
        (broken / name).mkdir(parents=True)
    (broken / "HEAD").write_text("ref: refs/heads/main\n")
    out = tmp_path / "out"
    out.mkdir()
    (out / "words.json").write_text(json.dumps({"messages": 1_000_000, "counts": {}}))
    first = build_history(tmp_path / "clones", out, None, processes=1, most=1_000)
    rows = out / "repositories" / "owner+sockets.jsonl.zst"
    written = rows.stat().st_mtime_ns
    again = build_history(tmp_path / "clones", out, None, processes=1, most=1_000)
    assert rows.stat().st_mtime_ns == written
    assert vars(first) == vars(again)
    partition = partition_of("owner/sockets")
    assert {language: dict(counts) for language, counts in first.pairs.items()} == {"python": {partition: 1}}
    [(_, row)] = read_jsonl(out / f"history.{partition}.jsonl.zst")
    assert (row["partition"], row["func_name"]) == (partition, "close_socket")
    assert [it["repository"] for it in json.loads((out / "stats.json").read_text())["repositories"]] == [
        "owner/sockets"
    ]


def test_copies_of_the_functions_of_another_repository_are_dropped(clone, tmp_path):
    clone.change(TITLE, *CLOSE)
    fork = tmp_path / "clones" / "somebody" / "fork"
    fork.parent.mkdir()
    shutil.copytree(clone.folder, fork)
    out = tmp_path / "out"
    out.mkdir()
    (out / "words.json").write_text(json.dumps({"messages": 1_000_000, "counts": {}}))
    stats = build_history(tmp_path / "clones", out, None, processes=1, most=1_000)
    assert [it["pairs"] for it in stats.repositories] == [1, 0]
    assert stats.dropped["duplicate"] >= 1


def test_a_folder_without_repositories_is_an_error(tmp_path):
    with pytest.raises(TrainingError, match="no git repository: give a folder of clones"):
        build_history(tmp_path, tmp_path / "out", None, processes=1, most=1_000)


@pytest.mark.parametrize(
    ("subject", "query"),
    [
        ("patch 9.0.1542: line not fully displayed", "line not fully displayed"),
        ("Ignore double close event on macOS, resolves #430", "Ignore double close event on macOS"),
        (
            "New: Support shared configs named `@scope/config` (fixes #3123)",
            "Support shared configs named `@scope/config`",
        ),
        ("[Fix #11972] Fix an error for `Lint/Void`", "Fix an error for `Lint/Void`"),
        ("gui, man, authors: Show the name of a device", "Show the name of a device"),
        ("- Improved the left side of a join.  [ticket:2298]", "Improved the left side of a join"),
        ("LANG-1234: Parse numbers with a sign", "Parse numbers with a sign"),
        ("Print the time of a run. Thanks to Ann", "Print the time of a run"),
        ("a" * 5_000, "a" * 200),
    ],
)
def test_a_subject_loses_kind_place_numbers_and_credits(subject, query):
    assert clean_subject(subject) == query


@pytest.mark.parametrize(
    "subject",
    ["docs: explain sockets", "Merge branch a", "v1.2.3", "Add tests for sockets", "refactor(net): split"],
)
def test_upkeep_is_recognised_by_the_message(subject):
    assert reason_of_subject(subject, clean_subject(subject)) == UPKEEP


def test_the_paragraph_of_a_body_is_prose():
    assert first_paragraph_of("* fix lint\n* more\n\nSigned-off-by: A <a@b>") == ""
    assert first_paragraph_of("Change-Id: I12\n\nThe lock is held\nwhile the file is written.") == (
        "The lock is held while the file is written."
    )


def test_an_insertion_lies_between_two_lines_and_a_replacement_covers_lines():
    old = b"a\nb\nc\nd\n"
    assert changed_lines(old, b"a\nb\nnew\nc\nd\n") == [(2, 3, 1.0)]
    assert changed_lines(old, b"a\nx\ny\nz\nd\n") == [(2, 3, 3.0)]
    assert changed_lines(old, b"a\n  b\n\nc\n# why\nd\n") == []


@pytest.mark.parametrize(
    "path", ["tests/a.py", "examples/a.py", "vendor/a.go", "a_test.go", "a.md", "docs/conf.py"]
)
def test_tests_examples_copies_and_text_are_no_product(path):
    assert product_language(path) is None
