"""`codesearch watch` and the watching of `codesearch serve`, with real files and real processes."""

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.search.request import SearchRequest
from tests.command import ROOT, TIMEOUT, Command, until
from tests.conftest import write_tree
from tests.integration.test_serve_command import serving

FILES = {
    "a.py": "def first_one():\n    return 1\n",
    "sub/b.py": "def second_one():\n    return 2\n",
    "node_modules/c.js": "function ignored() {}\n",
}
EXHAUSTED = """
import errno
import inotify_simple

def refuse(self, *arguments):
    raise OSError(errno.ENOSPC, "inotify watch limit reached")

inotify_simple.INotify.add_watch = refuse
"""
OTHER_SYSTEM = """
from types import SimpleNamespace

import codesearch.watch.watcher

codesearch.watch.watcher.platform = SimpleNamespace(system=lambda: "Darwin")
"""


class Watching:
    """A running watcher: its output and the content of its index."""

    def __init__(self, process: subprocess.Popen[bytes], command: Command) -> None:
        self.process, self.command = process, command
        self.out: list[str] = []
        self.err: list[str] = []
        self.engine = Engine(command.home)
        self.readers = [
            threading.Thread(target=self._read, args=(stream, lines), daemon=True)
            for stream, lines in ((process.stdout, self.out), (process.stderr, self.err))
        ]
        for reader in self.readers:
            reader.start()

    def _read(self, stream: object, lines: list[str]) -> None:
        lines.extend(line.decode().rstrip("\n") for line in iter(stream.readline, b""))

    def names(self) -> set[str]:
        """Return the names of all functions in the index, without a check for changes."""
        request = SearchRequest("one", mode="lexical", top_k=9)
        return {hit.name for hit in self.engine.search(request, Scope(), refresh=False).hits}

    def wait(self, is_so: Callable[[], bool]) -> None:
        until(is_so, unless=lambda: self.process.poll() is not None and (self.out, self.err))

    def ended(self, number: int | None = None) -> int:
        """Send a signal, if one is given; return the exit code when the process has ended and all output is read."""
        if number is not None:
            self.process.send_signal(number)
        code = self.process.wait(TIMEOUT)
        for reader in self.readers:
            reader.join(TIMEOUT)
        return code

    def wait_for(self, *names: str) -> None:
        self.wait(lambda: self.names() == set(names))


@contextmanager
def watching(command: Command, *arguments: object) -> Iterator[Watching]:
    with command.start("watch", "src", *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            watcher = Watching(process, command)
            watcher.wait(
                lambda: any(
                    "watching" in line or "cannot watch" in line for line in watcher.out + watcher.err
                )
            )
            yield watcher
        finally:
            process.kill()


@pytest.fixture
def command(tmp_path) -> Command:
    write_tree(tmp_path / "src", FILES)
    return Command(tmp_path, tmp_path / "home")


def patched(command: Command, code: str) -> Command:
    """Return a command that runs some code first."""
    patch = write_tree(command.folder / "patch", {"sitecustomize.py": code})
    return replace(command, variables={"PYTHONPATH": os.pathsep.join((str(patch), str(ROOT)))})


@pytest.fixture(params=["inotify", "watchdog"])
def watched(command: Command, request: pytest.FixtureRequest) -> Iterator[Watching]:
    """A watcher as on Linux, and as on other systems."""
    with watching(patched(command, OTHER_SYSTEM) if request.param == "watchdog" else command) as watcher:
        yield watcher


def test_it_prints_what_it_indexes_watches_and_updates(command):
    with watching(command) as watcher:
        src = command.folder / "src"
        part = src / "a.py.part"
        part.write_text("def third_one():\n    return 3\n")
        part.replace(src / "a.py")  # In one step, so that there is one update.
        watcher.wait(lambda: len(watcher.out) == 3)
        assert watcher.names() == {"third_one", "second_one"}
        assert watcher.out[0].startswith(f"{src}: 2 documents from 2 files in ")
        assert watcher.out[1] == f"{src}: watching 2 folders, 2 documents"  # Not node_modules.
        assert watcher.out[2].startswith(f"{src}: 1 file indexed, 0 removed, 2 documents (")
        assert watcher.err == []


def test_saves_renames_deletes_and_new_folders_are_indexed(watched):
    src = watched.command.folder / "src"
    part = src / "a.py.part"
    part.write_text("def saved_one():\n    pass\n")
    part.replace(src / "a.py")
    watched.wait_for("saved_one", "second_one")
    (src / "a.py").rename(src / "z.py")
    (src / "sub").rename(src / "moved")
    watched.wait(lambda: "2 documents" in watched.out[-1] and "removed" in watched.out[-1])
    write_tree(src, {"moved/b.py": "def moved_one():\n    pass\n"})
    watched.wait_for("saved_one", "moved_one")
    write_tree(src, {"x/y/z/d.py": "def deep_one():\n    pass\n"})
    watched.wait_for("saved_one", "moved_one", "deep_one")
    write_tree(src, {"x/y/z/d.py": "def deeper_one():\n    pass\n"})
    watched.wait_for("saved_one", "moved_one", "deeper_one")
    (src / "z.py").unlink()
    watched.wait_for("moved_one", "deeper_one")


def test_it_continues_when_its_root_is_deleted_and_created_again(watched):
    src = watched.command.folder / "src"
    shutil.rmtree(src)
    watched.wait(lambda: watched.out[-1] == f"{src}: the folder is gone; waiting for it to come back")
    write_tree(src, {"e.py": "def again_one():\n    pass\n"})
    watched.wait_for("again_one")
    watched.wait(lambda: f"{src}: the folder is back" in watched.out)
    write_tree(src, {"e.py": "def changed_one():\n    pass\n"})
    watched.wait_for("changed_one")


def test_without_inotify_watches_it_polls_and_prints_a_note(command):
    src = command.folder / "src"
    with watching(patched(command, EXHAUSTED)) as watcher:
        (src / "a.py").write_text("def polled_one():\n    pass\n")
        watcher.wait_for("polled_one", "second_one")
        (note,) = watcher.err
        assert note.startswith(f"note: {src}: cannot watch it, checking it every ")
        assert note.endswith("the system has no inotify watches left: raise fs.inotify.max_user_watches")


def test_two_watchers_and_the_index_command_do_not_disturb_each_other(command):
    src = command.folder / "src"
    with watching(command) as one, watching(command) as two:
        for number in range(5):
            (src / "a.py").write_text(f"def turn_{number}_one():\n    pass\n")
            # It waits two seconds for a watcher that is writing, and then says so.
            until(lambda: command("index", "src").returncode == 0)
        one.wait_for("turn_4_one", "second_one")
        assert (one.ended(signal.SIGTERM), two.ended(signal.SIGTERM), one.err, two.err) == (0, 0, [], [])


def test_it_ends_when_its_index_is_removed(command):
    with watching(command) as watcher:
        assert command("remove", "src").returncode == 0
        (command.folder / "src/a.py").write_text("x = 1\n")
        assert watcher.ended() == 0
        assert watcher.out[-1].endswith("its index was removed; no longer watching")


@pytest.mark.parametrize(("number", "code", "said"), [("SIGINT", 130, ["interrupted"]), ("SIGTERM", 0, [])])
def test_it_ends_on_a_signal(command, number, code, said):
    with watching(command) as watcher:
        assert (watcher.ended(getattr(signal, number)), watcher.err) == (code, said)


def test_a_folder_that_does_not_exist_is_an_error(command):
    assert command.fails("watch", "absent") == "error: absent: no such folder: give the folder to index\n"


def test_the_service_updates_existing_and_new_indexes(command):
    engine = Engine(command.home)
    command.succeeds("index", "src")
    with serving(command):
        src, other = command.folder / "src", command.folder / "other"
        wait_for_documents(engine, src, "first_one", "second_one")
        (src / "a.py").write_text("def served_one():\n    pass\n")
        wait_for_documents(engine, src, "served_one", "second_one")
        write_tree(other, {"o.py": "def other_one():\n    pass\n"})
        command.succeeds("index", "other")
        (other / "o.py").write_text("def newer_one():\n    pass\n")
        wait_for_documents(engine, other, "newer_one")
        assert command("remove", "other").returncode == 0
        (other / "o.py").write_text("def removed_one():\n    pass\n")
        (src / "a.py").write_text("def later_one():\n    pass\n")
        wait_for_documents(engine, src, "later_one", "second_one")
        assert list(engine.indexed_roots()) == [str(src)]


def wait_for_documents(engine: Engine, root: Path, *names: str) -> None:
    """Wait until the index of a root has exactly these functions; never update it."""
    request = SearchRequest("one", mode="lexical", top_k=9)
    until(
        lambda: (
            {hit.name for hit in engine.search(request, Scope(roots=(root,)), refresh=False).hits}
            == set(names)
        )
    )


def test_a_query_right_after_a_save_gets_the_new_content_from_a_service(command):
    command.succeeds("index", "src")
    with serving(command):
        for number in range(4):
            (command.folder / "src/a.py").write_text(f"def at_once_{number}():\n    return 1\n")
            done = command(
                *(asked := ("query", f"at_once_{number}", "--root", "src", "--vimgrep", "-k", "1"))
            )
            while "is being indexed by another process" in done.stderr:  # The service is still writing it.
                done = command(*asked)
            assert (done.stdout, done.stderr) == (f"src/a.py:1:1:def at_once_{number}()\n", "")
