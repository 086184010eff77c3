"""Text from a repository reaches the terminal only as visible characters."""

import json
import os
import pty
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from codesearch.agents.text import brief_text, outlines_text, path_below, readings_text
from codesearch.build.build import Progress
from codesearch.cli.invocation import build_progress
from codesearch.engine.brief import make_brief
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.search.request import SearchRequest
from codesearch.visible import visible, visible_json
from tests.command import TIMEOUT, Command
from tests.conftest import index_by_engine, write_tree

ATTACKS = {
    "csi": "\x1b[2J",
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;http://evil.example\x1b\\",
    "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "c1": "\x9b31m",
    "bidi": "\u202e\u2066",
    "invisible": "\u200b\u2060\U000e0041",
    "delete": "\x7f\x08",
}
NAME = "".join(ATTACKS.values()).replace("/", "")
TEXT = NAME.replace("\\", "/")
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\U000e0000-\U000e0fff]"
)
OWN = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;(?:id=\d+;[!-~]*|;)\x1b\\")
"""The escape sequences that codesearch itself writes: colours, and links with printable addresses."""


def write_hostile(folder: Path, home: Path, bundle: Path) -> Path:
    source = f"def push(item='{TEXT}'):\n    # push {TEXT}\n    return '{TEXT}' + item\n"
    ruby = f'# push an item\ndescribe "push {TEXT}" do\n  push\n  push\nend\n'
    root = write_tree(folder / f"root{NAME}", {f"push{NAME}\n.py": source, "b.rb": ruby, "c.py": "x = 1\n"})
    (root / "bad\n\x1b[1m.py").write_bytes(b"def push_bad(): return '\x81'\n")
    index_by_engine(root, home, bundle)
    return root


@pytest.fixture
def hostile(tmp_path: Path, home: Path, tiny_bundle: Path) -> Path:
    return write_hostile(tmp_path, home, tiny_bundle)


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory, tiny_bundle: Path) -> Command:
    """The command in a hostile folder that tests only read."""
    folder = tmp_path_factory.mktemp("hostile")
    return Command(write_hostile(folder, folder / "home", tiny_bundle), folder / "home")


@pytest.mark.parametrize("attack", ATTACKS)
def test_every_control_character_becomes_printable(attack):
    shown = visible(ATTACKS[attack])
    assert shown.isascii() and shown.isprintable() and shown.startswith("\\")


def test_letters_emoji_and_backslashes_are_kept():
    text = "naïve 漢字 👍🏽 \\x1b é ∑"
    assert visible(text) == text


@pytest.mark.parametrize(
    "options", ["", "--full", "--compact", "--files", "--vimgrep", "--explain", "--context=1"]
)
def test_formats_for_people_have_no_control_characters(ask, options):
    done = ask("query", "push", "-n", 20, *options.split())
    assert done.returncode == 0 and "push" in done.stdout
    assert not FORBIDDEN.search(done.stdout + done.stderr)
    assert r"\x1b" in done.stdout


def test_colours_and_links_are_the_only_escapes(ask):
    done = ask("query", "push", "-n", 20, "--color", "always", "--full")
    assert "\x1b[" in done.stdout and "\x1b]8;" in done.stdout
    assert not FORBIDDEN.search(OWN.sub("", done.stdout))


def test_a_hit_in_vimgrep_format_is_one_line(ask):
    lines = ask("query", "push", "-n", 20, "--vimgrep").stdout.splitlines()
    hits = ask("query", "push", "-n", 20, "--jsonl").stdout.split("\n")[:-1]
    assert len(lines) == len(hits) and all(re.match(r".+:\d+:1:", line) for line in lines)


@pytest.mark.parametrize("form", ["--json", "--jsonl"])
def test_json_is_safe_to_print_and_keeps_the_data(ask, form):
    text = ask("query", "push", "-n", 20, form).stdout
    assert not FORBIDDEN.search(text)
    hits = (
        json.loads(text)["hits"] if form == "--json" else [json.loads(line) for line in text.split("\n")[:-1]]
    )
    assert f"push{NAME}\n.py" in {hit["path"] for hit in hits}
    assert any(TEXT in hit["code"] for hit in hits)


def test_json_has_only_the_escapes_of_json():
    text = json.dumps({NAME: f"{NAME}\n"}, ensure_ascii=False, indent=2)
    assert json.loads(visible_json(text)) == {NAME: f"{NAME}\n"} and not FORBIDDEN.search(visible_json(text))


def test_other_commands_have_no_control_characters(hostile, command):
    for words in (["status", "--warnings"], ["doctor"], ["config"], ["remove", "--all"]):
        done = command(*words, cwd=hostile)
        assert not FORBIDDEN.search(done.stdout + done.stderr) and done.returncode == 0
        if words[0] != "config":
            assert r"root\x1b[2J" in done.stdout


def test_export_and_import_have_no_control_characters(hostile, command, tiny_bundle):
    for words in (["export", "one.csx", "--root", hostile], ["import", "one.csx", "--root", hostile]):
        done = command(*words, cwd=hostile.parent, shipped=tiny_bundle)
        assert done.returncode == 0 and not FORBIDDEN.search(done.stdout + done.stderr)
    assert r"root\x1b[2J" in done.stdout


def test_watch_has_no_control_characters(hostile, command):
    with command.start("watch", hostile, stdout=subprocess.PIPE) as watcher:
        line = watcher.stdout.readline().decode()
        watcher.terminate()
    assert r"root\x1b[2J" in line and line.endswith("watching 1 folder, 4 documents\n")
    assert not FORBIDDEN.search(line)


def test_what_agents_read_has_no_control_characters(hostile, home, tiny_bundle):
    engine = Engine(home, model=tiny_bundle)
    brief = make_brief(engine.session(Scope()), SearchRequest("push"), 200, with_usages=True)
    path_of = partial(path_below, hostile)
    text = brief_text(brief, path_of, 2_000)
    for hit in brief.answer.hits:
        place, scope = f"{hit.path}:{hit.start_line}", Scope((hit.root,))
        text += readings_text(engine.session(scope).read(place), path_of, 2_000)
        text += outlines_text(engine.session(scope).outline(hit.path), 2_000)
    engine.close()
    assert r"push\x1b[2J" in text and r"# push \x1b[2J" in text
    assert not FORBIDDEN.search(text)


def test_a_warning_about_a_file_is_one_line(ask):
    warnings = [line for line in ask("status", "--warnings").stdout.splitlines() if "invalid UTF-8" in line]
    assert warnings == [r"    bad\n\x1b[1m.py: invalid UTF-8 at byte 24: read with replacement characters"]


def test_index_and_its_warnings_have_no_control_characters(hostile, command, tiny_bundle):
    done = command("index", hostile, "--rebuild", shipped=tiny_bundle)
    assert done.returncode == 0 and r"bad\n\x1b[1m.py" in done.stderr
    assert not FORBIDDEN.search(done.stdout + done.stderr)


def test_errors_and_notes_have_no_control_characters(hostile, command):
    (hostile / ".codesearch.toml").write_text('"\\u001b[2J" = 1\n')
    settings = command("query", "push", cwd=hostile)
    (hostile / ".codesearch.toml").unlink()
    filtered = command("query", "push", "--root", hostile, "--path", NAME.replace("\x00", ""))
    behind = command("query", "push", "--root", hostile.parent / f"no{NAME}")
    assert [done.returncode for done in (settings, filtered, behind)] == [2, 1, 2]
    for done in (settings, filtered, behind):
        assert not FORBIDDEN.search(done.stdout + done.stderr)


def test_the_name_of_a_folder_is_plain_text_in_the_progress_bar(monkeypatch):
    reading, writing = pty.openpty()
    with os.fdopen(writing, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with build_progress("[/red][link=http://evil]\x1b]0;owned\x07") as tell:
            tell(Progress("parse", 1, 2, 3))
        terminal.flush()
        shown = ""
        while "?25h" not in shown:  # The bar shows the cursor again when it ends; a read returns a part.
            shown += os.read(reading, 100_000).decode()
    os.close(reading)
    assert r"[/red][link=http://evil]\x1b]0;owned\x07" in shown and "\x1b]0;" not in shown


def test_the_pager_gets_visible_characters(hostile, command, tmp_path):
    seen = tmp_path / "seen"
    run = (
        "import pty, sys, fcntl, struct, termios\n"
        "fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('4H', 3, 80, 0, 0))\n"
        "import runpy; sys.argv = ['codesearch', 'query', 'push', '--root', sys.argv[1], '--color', 'never']\n"
        "runpy.run_module('codesearch', run_name='__main__')\n"
    )
    master, slave = pty.openpty()
    environment = {**command.environment, "PAGER": f"tee {seen}"}
    process = subprocess.Popen(
        [sys.executable, "-c", run, str(hostile)], stdout=slave, stderr=slave, env=environment, cwd=tmp_path
    )
    process.wait(TIMEOUT)
    os.close(slave)
    os.close(master)
    assert r"\x1b" in seen.read_text() and not FORBIDDEN.search(seen.read_text())
