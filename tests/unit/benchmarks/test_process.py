"""Time and memory of a command and its children."""

import os
import subprocess
import sys

import numpy as np

from benchmarks.process import MemoryClock, Usage, measured, tree_rss_bytes

LARGE = "import sys; block = b'1' * 60_000_000; print(flush=True); sys.stdin.read()"
SPIN = "import time; end = time.process_time() + {seconds}\nwhile time.process_time() < end: pass"


def python(code: str, **options: object) -> Usage:
    return measured([sys.executable, "-c", code], **options)


def test_the_output_and_the_exit_code_are_those_of_the_command(tmp_path):
    usage = python("import os, sys; print(os.getcwd(), os.environ['A']); sys.exit('bad')", folder=tmp_path,
                   environment={"A": "b"})  # fmt: skip
    assert (usage.code, usage.output) == (1, f"{tmp_path} b\nbad\n")


def test_bytecode_is_written_as_for_an_installed_command(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert python("import sys; print(sys.dont_write_bytecode)").output == "False\n"


def test_cpu_and_memory_of_children_are_included():
    """The child stays alive after its work, so that late samples on a busy machine still see its memory."""
    child = f"b = bytearray(60_000_000); {SPIN.format(seconds=0.3)}\ntime.sleep(0.5)"
    usage = python(f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)")
    assert usage.code == 0
    assert 0.28 <= usage.cpu_s < 1
    assert 65 < usage.peak_mb < 120
    assert usage.wall_s >= 0.8


def test_a_command_over_the_timeout_is_stopped_and_counts_as_failed():
    usage = python("print('so far', flush=True); import signal; signal.pause()", timeout_s=2)
    assert usage.code != 0
    assert (
        usage.output.removeprefix("so far\n") == "stopped after 2 s"
    )  # A busy machine prints nothing so soon.
    assert usage.wall_s < 20


def test_the_peak_memory_of_a_stage_includes_child_processes():
    clock, before = MemoryClock(), tree_rss_bytes(os.getpid())
    with clock.stage("large"):
        block = np.ones(60_000_000, dtype=np.uint8)
    del block
    with clock.stage("small"):
        pass
    with subprocess.Popen([sys.executable, "-c", LARGE], stdin=-1, stdout=-1) as child, clock.stage("child"):
        child.stdout.readline()
    assert clock.rss_bytes["large"] > before + 50_000_000
    assert clock.rss_bytes["large"] > clock.rss_bytes["small"] + 50_000_000
    assert clock.rss_bytes["child"] > clock.rss_bytes["small"] + 50_000_000
    assert clock.seconds.keys() == clock.rss_bytes.keys()
