"""A query from the shell with a running service, and without -> `results/service.json`, a table of docs/dev/speed.md.

`python -m benchmarks.service ROOT HOME` asks about an indexed folder; `benchmarks.speed` includes this measurement.
The start of Python is measured too.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.peers import QUERIES, Command, Paths, ours
from benchmarks.process import INSTALLED, quantiles, seconds_of, tree_rss_bytes
from benchmarks.publish import DEV_DOCS, fill, line, record

PAGE = DEV_DOCS / "speed.md"
_CLIENTS = 20


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="indexed folder")
    parser.add_argument("home", type=Path, help="folder of its index")
    options = parser.parse_args()
    rows = service_rows(Paths(options.root, options.home, options.home))
    record("service", rows, flat=True)
    fill(PAGE, "service", table(rows))


def service_rows(paths: Paths) -> dict[str, Any]:
    """Time new processes that ask a service, then as many without one; the first of each is not counted."""
    queries = [ours().query(paths, QUERIES[number % len(QUERIES)]) for number in range(_CLIENTS + 1)]
    with running_service(paths.store) as pid:
        first, *asked = times_ms(queries)
        service_mb = round(tree_rss_bytes(pid) / 1e6, 1)
    return {
        "service_query": {**quantiles(asked), "first_ms": round(first, 2), "service_mb": service_mb},
        "query_without": quantiles(times_ms(queries)[1:]),
        "python_alone": quantiles(times_ms([[sys.executable, "-c", "pass"]] * (_CLIENTS + 1))[1:]),
    }


def table(rows: dict[str, Any]) -> str:
    """Lay the rows out for the page."""
    names = {
        "service_query": "with the service",
        "query_without": "without one",
        "python_alone": "`python -c pass`, which does nothing",
    }
    lines = [
        line([name, *(f"{rows[key][of]:.1f}" for of in ("p50_ms", "p95_ms"))]) for key, name in names.items()
    ]
    first = f"{rows['service_query']['first_ms']:.0f} ms"
    memory = f"{rows['service_query']['service_mb']:.0f} MB"
    return "\n".join(
        [
            line(["", "p50 ms", "p95 ms"]),
            "|---|---|---|",
            *lines,
            "",
            f"The first query after the start of the service takes {first}, because it opens the index and the model.",
            f"The service then uses {memory}, most of it pages of the index.",
        ]
    )


@contextmanager
def running_service(home: Path) -> Iterator[int]:
    """Run a service for a home; yield its process id."""
    command = [sys.executable, "-m", "codesearch", "serve", "--home", str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **INSTALLED}) as service:
        try:
            assert service.stdout and service.stdout.readline(), "no service started"
            yield service.pid
        finally:
            service.terminate()


def times_ms(commands: Sequence[Command]) -> list[float]:
    """Run commands one after the other; return the milliseconds of each."""
    environment = {**os.environ, **INSTALLED}
    environment.pop("CODESEARCH_NO_SERVICE", None)

    def ask(command: Command) -> None:
        words = [str(word) for word in command]
        subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=True)

    return [1000 * seconds_of(lambda command=command: ask(command)) for command in commands]


if __name__ == "__main__":
    main()
