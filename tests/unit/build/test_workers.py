"""Worker processes started with `python -m`: tasks, results, errors and how they end."""

import os
import signal
import sys
import threading
import time

import pytest

from codesearch.build.workers import WorkerDiedError, Workers, WorkerStartError
from tests.command import TIMEOUT, until
from tests.conftest import child_processes


def open_adder(amount: int):
    return lambda number: number + amount


def open_faulty():
    def work(task: str) -> str:
        if task == "print":
            os.write(1, b"this is not a reply\n")
        elif task == "die":
            os._exit(3)
        elif task == "raise":
            raise KeyError("what was asked for")
        elif task == "sleep":
            threading.Event().wait()
        elif task == "path":
            return repr(sys.path[:2])
        return task

    return work


def open_process_id():
    return lambda _: os.getpid()


def open_limited():
    def work(seconds: float) -> None:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        while seconds:
            pass

    return work


def open_stillborn():
    os._exit(1)


def open_failing():
    raise ValueError("no such model")


@pytest.fixture
def workers():
    pool = Workers(2, open_faulty)
    yield pool
    pool.close()


def test_each_task_has_its_own_result():
    pool = Workers(2, open_adder, 10)
    try:
        assert [future.result() for future in map(pool.submit, range(20))] == list(range(10, 30))
    finally:
        pool.close()


def test_output_of_a_library_does_not_mix_with_results(workers, capfd):
    assert workers.submit("print").result() == "print"
    assert "not a reply" in capfd.readouterr().err


def test_an_error_has_the_traceback_of_the_other_process(workers):
    with pytest.raises(KeyError, match="what was asked for") as caught:
        workers.submit("raise").result()
    assert "test_workers.py" in caught.value.__notes__[0]


def test_a_process_that_dies_fails_only_its_own_task(workers):
    futures = [workers.submit(task) for task in ("a", "die", "b", "c")]
    with pytest.raises(WorkerDiedError):
        futures[1].result()
    assert [futures[n].result() for n in (0, 2, 3)] == ["a", "b", "c"]
    assert workers.submit("d").result() == "d"


def test_a_process_that_cannot_start_raises_another_error_than_one_that_dies():
    pool = Workers(1, open_stillborn)
    try:
        with pytest.raises(WorkerStartError):
            pool.submit(1).result()
    finally:
        pool.close()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a limit of processor time")
def test_a_process_that_its_own_time_limit_ends_is_told_from_one_that_crashes(workers):
    pool = Workers(1, open_limited)
    try:
        with pytest.raises(WorkerDiedError) as caught:
            pool.submit(0.1).result()
    finally:
        pool.close()
    assert caught.value.timed_out and caught.value.seconds >= 0.1
    with pytest.raises(WorkerDiedError) as caught:
        workers.submit("die").result()
    assert not caught.value.timed_out


def test_an_error_at_the_start_is_raised():
    pool = Workers(1, open_failing)
    try:
        with pytest.raises(ValueError, match="no such model"):
            pool.submit(1).result()
    finally:
        pool.close()


def test_closing_ends_running_tasks_and_leaves_no_process():
    before = child_processes()
    pool = Workers(2, open_faulty)
    sleeping = [pool.submit("sleep") for _ in range(2)]
    until(lambda: len(child_processes() - before) == 2)
    started = time.monotonic()
    pool.close()
    assert time.monotonic() - started < TIMEOUT / 2  # The tasks never end by themselves.
    assert child_processes() <= before
    for future in sleeping:
        with pytest.raises((WorkerDiedError, WorkerStartError)):
            future.result()


def test_the_working_directory_is_not_searched_for_modules(tmp_path, monkeypatch):
    (tmp_path / "numpy.py").write_text("raise SystemExit('imported from the working directory')\n")
    monkeypatch.chdir(tmp_path)
    pool = Workers(1, open_adder, 1)
    try:
        assert pool.submit(1).result() == 2
    finally:
        pool.close()
