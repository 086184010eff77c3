"""The options that the commands declare -> the reference in docs/cli.md."""

from __future__ import annotations

import argparse
from typing import Any

import click

from benchmarks.publish import DOCS, fill
from codesearch.cli.main import make_command

PAGE = DOCS / "cli.md"
_BRACES = str.maketrans("", "", "{}")


def main() -> None:
    """Write the reference into the page."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    fill(PAGE, "commands", reference())


def reference() -> str:
    """Return a section for each command. What an option of `query` means is said there alone."""
    commands = make_command().commands
    asked = [_row(option) for option in _options(commands["query"])]
    parts = []
    for name, command in commands.items():
        arguments = " ".join(command.collect_usage_pieces(click.Context(command))[1:]).translate(_BRACES)
        parts.append(f"## {name}\n\n{command.help}\n")
        if arguments:
            parts.append(f"```\ncodesearch {name} {arguments}\n```\n")
        as_query = [one for one in _options(command) if name != "query" and _row(one) in asked]
        if own := [one for one in _options(command) if one not in as_query]:
            parts.append("".join("- {}: {}\n".format(*_row(one)) for one in own))
        if as_query:
            parts.append(f"As for [query](#query): {_named(as_query, asked)}.\n")
    return "\n".join(parts).rstrip()


def _named(options: list[Any], asked: list[tuple[str, str]]) -> str:
    """List options; of three or more that are neighbours among those of `query`, only the first and the last."""
    runs: list[list[Any]] = []
    for option in options:
        follows = runs and asked.index(_row(option)) == asked.index(_row(runs[-1][-1])) + 1
        runs[-1].append(option) if follows else runs.append([option])
    ends = []
    for run in runs:
        names = [f"`{max(one.opts, key=len)}`" for one in run]
        ends += [f"{names[0]} to {names[-1]}"] if len(names) > 2 else names
    return ", ".join(ends)


def _options(command: Any) -> list[Any]:  # noqa: ANN401 - typer's own copy of click has no public types.
    return [one for one in command.params if one.param_type_name == "option" and one.name != "help"]


def _row(option: Any) -> tuple[str, str]:  # noqa: ANN401
    """Return the names of an option with its value, and what it means."""
    value = "" if option.is_flag else f" {option.metavar}"
    names = [name + value for name in sorted(option.opts, key=len)]
    default = option.default
    if option.secondary_opts and default is not None:
        default = "yes" if default else "no"
    shown = f" Default: {default}." if default not in (None, False, "") else ""
    return ", ".join(f"`{name}`" for name in (*names, *option.secondary_opts)), (option.help or "") + shown


if __name__ == "__main__":
    main()
