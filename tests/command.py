"""The real command in a process of its own, with a home and a working directory of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TIMEOUT = 120

SHIP = """
import sys
from pathlib import Path
import codesearch.encoding.bundle as bundle
bundle.SHIPPED = Path(sys.argv.pop(1))
from codesearch.cli.entry import run
run()
"""
"""The command, with the bundle named first in the place of the shipped one."""


@dataclass(frozen=True)
class Command:
    """Runs `codesearch` in `folder`, with all indexes in `home`."""

    folder: Path
    home: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        own = {
            "PYTHONPATH": str(ROOT),
            "CODESEARCH_HOME": str(self.home),
            "TERM": "xterm-256color",
            "CODESEARCH_AUTO_INDEX": "no",  # What is around the folder of a test is not to be indexed.
            "CODESEARCH_PAGER": "never",
        }
        return {**kept, **own, **self.variables}

    def line(self, *arguments: object, shipped: Path | None = None) -> list[str]:
        start = ["-c", SHIP, str(shipped)] if shipped else ["-m", "codesearch"]
        return [sys.executable, *start, *map(str, arguments)]

    def __call__(
        self, *arguments: object, shipped: Path | None = None, cwd: Path | None = None, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.line(*arguments, shipped=shipped),
            cwd=cwd or self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
            **options,
        )

    def start(self, *arguments: object, **options: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.line(*arguments),
            cwd=self.folder,
            env=self.environment,
            preexec_fn=_heed_ctrl_c,
            **options,
        )


def _heed_ctrl_c() -> None:
    """Undo what processes inherit where tests run in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
