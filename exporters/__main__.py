"""`python -m exporters`: the commands of `exporters.commands`."""

from __future__ import annotations

import sys

from training.command import run_command


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    return run_command("exporters", arguments)


if __name__ == "__main__":
    sys.exit(main())
