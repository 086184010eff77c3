"""The part that the command lines of `training` and `exporters` share."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from codesearch.errors import CodeSearchError

CORPUS = Path("build/corpus")
"""Default folder of the corpus, as `make corpus` fills it."""
POOLS = Path("build/pools")
"""Default folder of the pools of questions."""


def run_command(parser: argparse.ArgumentParser, arguments: list[str] | None) -> int:
    """Run the command of the arguments; for a user's error, print one line on stderr and return exit status 2."""
    options = parser.parse_args(arguments)
    try:
        options.run_command(options)
    except CodeSearchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def add_settings(parser: argparse.ArgumentParser, config: type) -> None:
    """Add an option for each setting of a frozen dataclass, with its default."""
    for field in fields(config):
        parser.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=type(field.default),
            default=field.default,
            help="default: %(default)s",
        )


def settings_from(options: argparse.Namespace, config: type) -> Any:  # noqa: ANN401 - an instance of `config`.
    """Return the settings that the options of `add_settings` give."""
    return config(**{field.name: getattr(options, field.name) for field in fields(config)})
