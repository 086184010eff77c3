"""`codesearch config`: every setting, its value and where the value comes from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated

import typer

from codesearch.cli.invocation import Output, invocation_of
from codesearch.cli.options import JsonOption
from codesearch.config import PROJECT_FILE
from codesearch.settings import SETTINGS, user_file
from codesearch.visible import visible


def config(
    context: typer.Context,
    explain: Annotated[bool, typer.Option("--explain", help="Say what each setting means.")] = False,
    as_json: JsonOption = False,
) -> Iterator[Output]:
    """Show the settings in this folder and where they come from."""
    invocation = invocation_of(context)
    found = invocation.settings()
    if as_json:
        fields = {name: {"value": value.value, "source": value.source} for name, value in found.items()}
        yield Output(f"{json.dumps(fields, indent=2)}\n")
        return
    rows = [(name, _toml(value.value), value.source) for name, value in found.items()]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, text, source in rows:
        line = f"{name:<{widths[0]}}  {text:<{widths[1]}}  {source}"
        yield Output(f"{visible(line)}\n" + (f"    {SETTINGS[name].meaning}\n" if explain else ""))
    path = user_file(invocation.terminal.variables, invocation.user_home)
    yield Output(f"\nset them in {visible(str(path))} or in {PROJECT_FILE} of a project\n")


def _toml(value: object) -> str:
    """Write a value in TOML."""
    return json.dumps(value)
