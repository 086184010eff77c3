"""The part that the command lines of `training` and `exporters` share."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NoReturn

from codesearch.errors import CodeSearchError

CORPUS = Path("build/corpus")
"""Default folder of the corpus, as `make corpus` fills it."""
SETS = ("valid", "test", "names", "advtest", "cosqa")
"""Held-out sets of `evaluate`."""


class Parser(argparse.ArgumentParser):
    """A parser that reports a wrong option in one line; `train` has fifty options."""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2."""
        self.exit(2, f"error: {message}: see `{self.prog} --help`\n")


def run_command(parser: argparse.ArgumentParser, arguments: list[str] | None) -> int:
    """Run the command of the arguments; for a user's error, print one line on stderr and return exit status 2."""
    options = parser.parse_args(arguments)
    try:
        options.run_command(options)
    except KeyboardInterrupt:
        print("stopped: the same command continues", file=sys.stderr)
        return 130
    except ModuleNotFoundError as error:
        print(
            f"error: {error.name} is not installed: run `pip install -e '.[train]'` in the clone",
            file=sys.stderr,
        )
        return 2
    except CodeSearchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0
