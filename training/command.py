"""The part that the command lines of `training` and `exporters` share."""

from __future__ import annotations

import argparse
import sys

from codesearch.errors import CodeSearchError


def run_command(parser: argparse.ArgumentParser, arguments: list[str] | None) -> int:
    """Run the command of the arguments; for a user's error, print one line on stderr and return exit status 2."""
    options = parser.parse_args(arguments)
    try:
        options.run_command(options)
    except CodeSearchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0
