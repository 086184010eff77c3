"""A service under load: fifty clients ask over HTTP and over the socket while files change."""

import http.client
import json
import logging
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import pytest

from codesearch.service.client import ask
from tests.command import TIMEOUT, Command, free_port, until
from tests.conftest import write_tree

pytest.importorskip("uvicorn", reason="the extra `web` is not installed")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads memory and open files from /proc")

LOG = logging.getLogger(__name__)
CLIENTS = 50
SUBJECTS = tuple("invoice socket matrix cursor parcel lantern orchard violin glacier pigeon".split())
VERBS = ("open", "close", "rotate", "merge", "print", "weigh", "paint", "repair", "borrow", "measure")
NAMES = [f"{verb}_{subject}" for verb in VERBS for subject in SUBJECTS]
"""Functions that never change; the name of each is a query with one right answer."""


def function(name: str) -> str:
    return f"def {name}(item):\n    return item.{name}()\n\n"


@dataclass
class Load:
    """Clients of a service, and the answers they got."""

    command: Command
    tree: Path
    port: int
    stop: threading.Event = field(default_factory=threading.Event)
    seen: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    saved: list[str] = field(default_factory=list)

    def ask_over_http(self, name: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        try:
            connection.request("GET", f"/api/v1/search?{urlencode({'q': name, 'limit': 1})}")
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        if answer.status in (
            503,
            504,
        ):  # The service is at its limit of requests, or the machine is too busy.
            return ""
        assert answer.status == 200, (answer.status, body)
        return json.loads(body)["hits"][0]["name"]

    def ask_over_socket(self, name: str) -> str:
        arguments = (
            "query",
            name,
            "-n",
            "1",
            "--json",
            "--root",
            str(self.tree),
            "--home",
            str(self.command.home),
        )
        answer = ask(str(self.command.home), arguments)
        if answer is None:  # All threads are busy: the command would search itself.
            return ""
        code, out, err = answer
        assert code == 0, err
        return json.loads(out)["hits"][0]["name"]

    def ask_all_the_time(self, number: int) -> None:
        """Ask until the end, and record every wrong answer. The service may also say that it is busy."""
        chance = random.Random(number)
        over = "http" if number % 2 else "socket"
        one = self.ask_over_http if number % 2 else self.ask_over_socket
        while not self.stop.is_set():
            name = chance.choice(NAMES)
            try:
                found = one(name)
            except Exception as error:
                self.wrong.append(f"{over} {name}: {type(error).__name__}: {error}")
                return
            if found not in ("", name):
                self.wrong.append(f"{over} {name}: {found}")
            self.seen[over if found else f"{over} busy"] += 1
            if not found:
                self.stop.wait(0.05)

    def save_all_the_time(self) -> None:
        """Write, change and delete files until the end."""
        number = 0
        while not self.stop.wait(0.3):
            number += 1
            name = f"update_number_{number}"
            write_tree(self.tree, {f"changing{number % 5}.py": function(name)})
            self.saved.append(name)
            if number % 7 == 0:
                (self.tree / f"changing{(number + 2) % 5}.py").unlink(missing_ok=True)


def resources(pid: int) -> tuple[float, int, int]:
    """Return the memory of a process in MB, the number of its open files and that of its threads."""
    status = Path(f"/proc/{pid}/status").read_text()
    kilobytes = int(status.partition("VmRSS:")[2].split()[0])
    return kilobytes / 1024, len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task"))


@pytest.fixture
def load(tmp_path: Path) -> Iterator[tuple[Load, int]]:
    tree = write_tree(
        tmp_path / "tree",
        {f"{verb}.py": "".join(map(function, NAMES[i::10])) for i, verb in enumerate(VERBS)},
    )
    command = Command(tmp_path, tmp_path / "home")
    assert command("index", tree).returncode == 0
    port = free_port()
    with command.start("serve", "--web", "--port", port, stdout=subprocess.PIPE, text=True) as service:
        try:
            service.stdout.readline()
            service.stdout.readline()
            yield Load(command, tree, port), service.pid
        finally:
            service.terminate()


def check(load: Load, pid: int, seconds: float, queries: int) -> None:
    """Run the clients for some seconds and queries; nothing may grow after the first quarter."""
    threads = [threading.Thread(target=load.ask_all_the_time, args=(number,)) for number in range(CLIENTS)]
    threads.append(threading.Thread(target=load.save_all_the_time))
    for thread in threads:
        thread.start()
    samples = []
    try:
        # On a busy machine, the first answers take long, and what they load is not growth.
        until(lambda: min(load.seen["http"], load.seen["socket"]) > 20, unless=lambda: load.wrong)
        started = time.monotonic()
        while (passed := time.monotonic() - started) < seconds or load.seen["http"] + load.seen[
            "socket"
        ] < queries:
            assert passed < seconds + TIMEOUT, load.seen
            assert not load.wrong, load.wrong
            samples.append(resources(pid))
            load.stop.wait(seconds / 40)
    finally:
        load.stop.set()
        for thread in threads:
            thread.join()
    assert not load.wrong, load.wrong
    last = next(
        name for name in reversed(load.saved) if (load.tree / f"changing{int(name[14:]) % 5}.py").exists()
    )
    until(lambda: load.ask_over_http(last) == last)
    quarter = len(samples) // 4
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    most = [[max(each) for each in zip(*part, strict=True)] for part in (early, late)]
    LOG.info("%s, %s saves; MB, files, threads: early %s, late %s", dict(load.seen), len(load.saved), *most)
    assert most[1][0] < 1.15 * most[0][0], samples
    assert min(files for _, files, _ in late) <= most[0][1] + 5, samples
    assert min(threads for *_, threads in late) <= most[0][2] + 2, samples


def test_a_service_under_load_answers_correctly_and_does_not_grow(load):
    check(*load, seconds=1, queries=100)


@pytest.mark.thorough
def test_ten_thousand_queries_in_an_hour(load):
    check(*load, seconds=3_600, queries=10_000)
