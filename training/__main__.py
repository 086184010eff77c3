"""`python -m training`: the commands of `training.commands`."""

from __future__ import annotations

import logging
import sys

from training.command import run_command


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s: %(message)s")
    return run_command("training", arguments)


if __name__ == "__main__":
    sys.exit(main())
