"""Colour, links and a progress bar on a terminal, and none of them elsewhere."""

import os
import re
import struct
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from tempfile import TemporaryFile

import pytest

pty = pytest.importorskip("pty")
fcntl = pytest.importorskip("fcntl")
termios = pytest.importorskip("termios")


def on_terminal(command, *arguments, stdout, stderr, height=0):
    """Run the command with stdout, stderr or both on a terminal; return the exit code and both outputs."""
    command = replace(command, variables={**command.variables, "COLUMNS": "100"})
    shown = b""
    with TemporaryFile() as out, TemporaryFile() as err, ThreadPoolExecutor() as threads:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, 100, 0, 0))
        streams = slave, slave if stdout else out.fileno(), slave if stderr else err.fileno()
        running = threads.submit(command.with_streams, *streams, *arguments)
        running.add_done_callback(lambda _: os.close(slave))
        try:
            while part := os.read(master, 65_536):
                shown += part
        except OSError:  # The other end was closed.
            pass
        os.close(master)
        texts = []
        for file, is_shown in ((out, stdout), (err, stderr)):
            file.seek(0)
            texts.append((shown if is_shown else file.read()).decode())
    return running.result(), *texts


def plain(text: str) -> str:
    return re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|\]8;[^\x1b]*\x1b\\)", "", text)


def test_an_answer_and_its_notes_leave_the_first_hit_on_the_screen(indexed, command):
    words = (
        "query",
        "--all",
        "zyzzyva qwertz number string text list",
        "--kind",
        "function",
        "--kind",
        "method",
    )
    sizes = {
        height: on_terminal(command, *words, stdout=True, stderr=True, height=height)[1]
        for height in (14, 60)
    }
    rows = {height: plain(text).splitlines() for height, text in sizes.items()}
    assert rows[14][-1].startswith("note:") and len(rows[60]) > 12
    assert len(rows[14]) + len(rows[14][-1]) // 100 <= 12 and re.match(r"\S+:\d+  \S", rows[14][0])


def test_a_query_on_a_terminal_has_colour_and_links(indexed, command):
    code, out, _ = on_terminal(command, "query", "--all", "pop", "-k", "1", stdout=True, stderr=True)
    assert code == 0
    uri = (indexed / "python" / "convert.py").as_uri()
    assert re.search(rf"\x1b\]8;[^;]*;{re.escape(uri)}\x1b\\", out), "no OSC 8 link to the file"
    assert "\x1b[36m" in out or "\x1b[1;36m" in out
    lines = [line.rstrip() for line in plain(out).splitlines()]
    assert lines[0] == "tiny/python/convert.py:21  Stack.pop  method, 3 lines"
    assert [line.split(" │ ") for line in lines[1:4]] == [
        ["      21", "def pop(self):"],
        ["      22", '    """Take the top item off."""'],
        ["      23", "    return self.items.pop()"],
    ]


def test_a_query_from_a_terminal_as_stdin_says_how_to_pipe_it(indexed, command):
    code, out, _ = on_terminal(command, "query", "--all", "-", stdout=True, stderr=True)
    said = "error: no query on stdin: pipe it into `codesearch query -`, or give it as words\r\n"
    assert (code, out) == (2, said)


def test_five_hits_fit_a_screen_of_24_rows_without_the_pager(indexed, command):
    command = replace(command, variables={"PAGER": "sed s/^/:/"})
    _, out, _ = on_terminal(command, "query", "--all", "read push", stdout=True, stderr=True, height=24)
    lines = plain(out).splitlines()
    assert lines[-1].startswith("5 hits from ") and len(lines) <= 22


def test_a_number_of_hits_is_kept_on_a_terminal_and_without_one_they_fill_it(indexed, command):
    def shown(*options: str) -> str:
        _, out, _ = on_terminal(command, "query", "push", *options, stdout=True, stderr=True, height=40)
        return plain(out).splitlines()[-1].partition(" from ")[0]

    command = replace(command, folder=indexed)
    assert [shown("--flat", "-n", number) for number in "45"] == ["4 hits", "5 hits"]
    assert [shown("-n", number) for number in "45"] == ["4 hits", "5 hits"]
    assert shown("--flat") == "13 hits"
    (indexed / ".codesearch.toml").write_text("hits = 5\n")
    assert shown("--flat") == "5 hits"


@pytest.mark.parametrize(
    ("height", "pager", "is_paged"),
    [(5, "sed s/^/:/", True), (50, "sed s/^/:/", False), (5, "", False), (5, "sed 's/^/:/", False)],
)
def test_output_that_is_longer_than_the_screen_goes_through_a_pager(
    indexed, command, height, pager, is_paged
):
    command = replace(command, variables={"PAGER": pager})
    code, out, _ = on_terminal(
        command, "query", "--all", "pop", "-k", "2", stdout=True, stderr=True, height=height
    )
    assert code == 0
    assert [line.startswith(":") for line in out.splitlines()] == [is_paged] * len(out.splitlines())


def test_a_piped_query_has_no_colour_or_links_if_only_stderr_is_a_terminal(indexed, command):
    code, out, err = on_terminal(command, "query", "--all", "pop", "-k", "1", stdout=False, stderr=True)
    assert (code, err) == (0, "")
    assert "\x1b" not in out


def test_json_has_no_colour_on_a_terminal(indexed, command):
    _, out, _ = on_terminal(command, "query", "--all", "pop", "-k", "1", "--json", stdout=True, stderr=True)
    assert out.startswith("{\r\n")
    assert "\x1b" not in out


def test_an_index_shows_a_bar_on_a_terminal_and_clears_it(tiny_repo, command, tiny_bundle):
    code, out, err = on_terminal(command, "index", "tiny", "--model", tiny_bundle, stdout=False, stderr=True)
    assert code == 0
    assert re.search(r"tiny: (reading|writing|syncing)", plain(err))
    assert "━" in err
    assert "documents" in plain(err)
    assert err.rstrip().endswith("\x1b[2K") or err.rstrip("\r\n").endswith("\x1b[?25h\r\x1b[1A\x1b[2K")
    assert out.startswith("tiny: 13 documents from 6 files")
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["read", "python/convert.py::Stack.pop"], "python/convert.py:21-23"),
        (["usages", "int_to_string"], "python/convert.py:4"),
        (["outline", "python/convert.py"], "python/convert.py"),
        (["duplicates", "--min-lines", "2"], "python/convert.py:"),
    ],
)
def test_answers_about_places_have_the_colours_of_hits_and_fit_the_terminal(
    indexed, command, arguments, place
):
    command, source = replace(command, folder=indexed), indexed / "python/convert.py"
    source.with_name("twin.py").write_bytes(source.read_bytes())
    _, out, _ = on_terminal(command, *arguments, stdout=True, stderr=False)
    assert f"\x1b[36m{place}" in out
    assert max(len(plain(line).rstrip()) for line in out.splitlines()) <= 100
    _, piped, _ = on_terminal(command, *arguments, stdout=False, stderr=False)
    assert "\x1b" not in piped
    _, never, _ = on_terminal(command, *arguments, "--color", "never", stdout=True, stderr=False)
    assert "\x1b" not in never
    forced = command(*arguments, "--color", "always")
    assert "\x1b[36m" in forced.stdout


def test_the_query_of_a_name_shows_its_definitions_alone(indexed, command):
    _, out, _ = on_terminal(command, "query", "--all", "Stack.pop", stdout=True, stderr=True, height=30)
    first, *code, footer, note = plain(out).splitlines()
    assert re.fullmatch(r"tiny/python/convert\.py:21  Stack\.pop  \(self\)", first)
    assert len(code) == 2 and footer.startswith("1 hit from ")
    assert note.endswith("so only its definitions are shown: -n 20 shows others too")
    _, out, _ = on_terminal(command, "query", "--all", "Stack.pop", "-n", "20", stdout=True, stderr=True)
    assert not any(row.startswith(("1 hit", "note:")) for row in plain(out).splitlines())
