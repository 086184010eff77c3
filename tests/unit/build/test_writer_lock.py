"""Only one process writes an index at a time."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from filelock import lock_descriptor

from codesearch import files
from codesearch.errors import IndexLockedError
from codesearch.files import file_lock
from codesearch.store.catalogue import writer_lock
from tests.command import TIMEOUT, until

HOLD = """
import sys
from pathlib import Path
from codesearch.store.catalogue import writer_lock
with writer_lock(Path(sys.argv[1]), "root"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["fcntl", "filelock"], autouse=True)
def kind_of_lock(request, monkeypatch):
    """Run every test with both kinds of lock. `filelock` has already imported `fcntl`."""
    if request.param == "filelock":
        monkeypatch.setitem(sys.modules, "fcntl", None)


@pytest.fixture
def holder(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_a_second_writer_gets_the_process_id_of_the_first(tmp_path, holder):
    with pytest.raises(IndexLockedError) as caught, writer_lock(tmp_path, "/src"):
        pass
    assert str(caught.value) == f"/src is being indexed by process {holder.pid}: wait for it, or stop it"


def test_a_killed_writer_leaves_no_lock(tmp_path, holder):
    holder.kill()
    holder.wait()
    with writer_lock(tmp_path, "/src"):
        assert (tmp_path / "lock").read_text().splitlines()[0] == f" {os.getpid()}"


def test_a_lock_file_of_an_older_version_has_no_process_id(tmp_path):
    with open(tmp_path / "lock", "w") as file:
        # The form of older versions. Without its first byte it would be the id of another process.
        file.write("12345")
        file.flush()
        lock_descriptor(file.fileno())
        with pytest.raises(IndexLockedError) as caught, writer_lock(tmp_path, "/src"):
            pass
    assert "by process 0:" in str(caught.value)


def test_a_lock_is_released_after_an_error(tmp_path):
    with pytest.raises(KeyError), writer_lock(tmp_path, "/src"):
        raise KeyError
    with writer_lock(tmp_path, "/src"):
        pass


def test_the_process_id_of_a_former_writer_is_overwritten_completely(tmp_path):
    (tmp_path / "lock").write_text(" 99999999999\n")
    with writer_lock(tmp_path, "/src"):
        with pytest.raises(IndexLockedError) as caught, writer_lock(tmp_path, "/src"):
            pass
        assert f"by process {os.getpid()}:" in str(caught.value)


def test_the_lock_of_a_file_that_was_deleted_is_none(tmp_path, monkeypatch):
    lock, deleted = files._locked, []

    def lock_late(descriptor):
        if not deleted:
            deleted.append((tmp_path / "lock").unlink())
        return lock(descriptor)

    monkeypatch.setattr(files, "_locked", lock_late)
    with writer_lock(tmp_path, "/src", wait_s=TIMEOUT):
        assert (tmp_path / "lock").exists()


def test_a_writer_makes_the_folder_that_was_removed_while_it_waited(tmp_path):
    with writer_lock(tmp_path / "index", "/src", makes=True):
        assert (tmp_path / "index/lock").exists()


def test_a_writer_that_has_just_written_comes_after_one_that_waits(tmp_path):
    order = []

    def is_waiting() -> bool:
        if not (tmp_path / "turn").exists():
            return False
        with file_lock(tmp_path / "turn") as owner:
            return owner is not None

    def wait() -> None:
        with writer_lock(tmp_path, "/src", wait_s=TIMEOUT):
            order.append("second")
            until(lambda: order[-1] == "first again" or is_waiting())

    for _ in range(3):
        order.clear()
        with writer_lock(tmp_path, "/src", wait_s=TIMEOUT):
            order.append("first")
            (waiter := threading.Thread(target=wait)).start()
            until(is_waiting)
        with writer_lock(tmp_path, "/src", wait_s=TIMEOUT):
            order.append("first again")
        waiter.join()
        assert order == ["first", "second", "first again"]
