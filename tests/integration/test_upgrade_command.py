"""`codesearch index --upgrade`: second vectors, here or in the background, and what shows of them."""

from __future__ import annotations

import json
import re
import time

from codesearch.encoding.bundle import LARGER
from codesearch.index import upgrade_worker
from codesearch.index.home import index_folder

NAME = json.loads((LARGER / "manifest.json").read_text("utf-8"))["name"]


def upgrade_of(command):
    (entry,) = json.loads(command("status", "--json").stdout)
    return entry["upgrade"]


def until_complete(command, documents):
    for _ in range(300):
        found = upgrade_of(command)
        if found["done"] == documents:
            return found
        time.sleep(0.2)
    raise AssertionError(f"not complete after a minute: {found}")


def test_nobody_who_did_not_ask_gets_a_second_vector(indexed, command, home):
    assert upgrade_of(command) is None
    assert "upgrade" not in command("status").stdout
    assert "larger" not in command("query", "read lines", "--explain", "--root", indexed).stdout
    assert not (home / "cache" / "upgrade.lock").exists()


def test_wait_ends_when_all_vectors_are_there_and_queries_use_them(indexed, command):
    done = command("index", indexed, "--wait", "--device", "cpu")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "  upgrade    13 of 13 documents have a vector of the larger model"
    assert f"  upgrade    100% of vectors upgraded by {NAME}\n" in command("status").stdout
    answer = command("query", "read a file into lines", "--explain", "-k", "3")
    cosines = [float(found) for found in re.findall(r"larger_cosine (-?\d\.\d+)", answer.stdout)]
    assert len(cosines) == 3 and cosines[0] > 0.5 and 0 not in cosines
    again = command("index", indexed, "--wait")
    assert len(again.stdout.splitlines()) == 1 and "nothing to do" in again.stdout


def test_a_background_process_upgrades_now_and_after_each_update(indexed, command, home):
    done = command("index", indexed, "--upgrade")
    assert done.stdout.splitlines()[-1].startswith("  upgrade    in the background")
    found = until_complete(command, 13)
    assert (found["documents"], found["percent"], found["model"]) == (13, 100, NAME)
    (indexed / "new.py").write_text("def added(first, second):\n    return first + second\n")
    assert command("index", indexed).stdout.splitlines()[-1].startswith("  upgrade    in the background")
    until_complete(command, 14)
    assert (home / "cache" / "upgrade.log").read_text() == ""


def test_what_was_killed_shows_in_the_status_and_no_upgrade_ends_it(indexed, command, home):
    upgrade_worker.ask(index_folder(home, indexed))
    line = command("status").stdout
    assert f"  upgrade    0% of vectors upgraded by {NAME}; nobody is at work" in line
    assert upgrade_of(command)["process"] is None
    assert command("index", indexed, "--no-upgrade").returncode == 0
    assert upgrade_of(command) is None


def test_wait_and_no_upgrade_exclude_each_other(indexed, command):
    done = command("index", indexed, "--wait", "--no-upgrade")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: --wait and --no-upgrade exclude each other: give one\n"
