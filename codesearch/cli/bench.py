"""`codesearch bench`: measure this installation with queries whose answers are known."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from codesearch.cli.invocation import Invocation, Output
from codesearch.cli.notes import freshness_notes, stage_progress
from codesearch.cli.options import Home
from codesearch.errors import ConfigError
from codesearch.options import Opt
from codesearch.settings import ModelSettings

if TYPE_CHECKING:
    from codesearch.engine.engine import Engine
    from codesearch.evaluation.result import SuiteResult

DATA_VARIABLE = "CODESEARCH_BENCH_DATA"


def bench(
    invocation: Invocation,
    suite: Annotated[
        str | None, Opt("What to run; `--suite help` lists them; default: csn99 with --data, else smoke.")
    ] = None,
    data: Annotated[Path | None, Opt(f"Folder of the suite's data; default: ${DATA_VARIABLE}.")] = None,
    questions: Annotated[
        Path | None, Opt("Score your own questions on your index: a file of JSON lines.")
    ] = None,
    root: Annotated[Path | None, Opt("The folder for --questions, by default this one.")] = None,
    json_file: Annotated[Path | None, Opt("Write all scores to a JSON file.", "--json")] = None,
    *,
    models: ModelSettings,
    home: Home = None,
) -> Iterator[Output]:
    """Measure search quality with questions whose answers are known.

    It indexes a suite's sources in a separate home, and scores the results of the product and of its parts.
    """
    from codesearch.evaluation.judge import BenchOptions
    from codesearch.evaluation.result import result_text, write_json
    from codesearch.evaluation.suites import SUITES, run_suite

    if suite == "help":
        width = max(map(len, SUITES))
        yield Output("".join(f"{name:{width}}  {what}\n" for name, (what, _) in SUITES.items()))
        return
    if questions and (suite or data):
        raise ConfigError(
            "--questions asks your own index", "give it only --root, --json, --model and --device"
        )
    if root and not questions:
        raise ConfigError("--root is only for --questions", "leave it out")
    to_json = _writable(invocation, json_file)
    engine = invocation.engine(home, model=models.model, device=models.device)
    if questions:
        result = yield from _of_questions(invocation, engine, invocation.path(questions), root)
    else:
        named = data or os.environ.get(DATA_VARIABLE)
        name = suite or ("csn99" if named else "smoke")
        with stage_progress(name) as on_progress:
            options = BenchOptions(
                home=engine.home,
                data=invocation.path(Path(named)) if named else None,
                model=models.model and invocation.path(models.model),
                device=models.device,
                on_progress=on_progress,
            )
            result = run_suite(name, options)
        yield Output(result_text(result))
    if to_json:
        write_json(to_json, result, shlex.join(["codesearch", *sys.argv[1:]]))


def _writable(invocation: Invocation, file: Path | None) -> Path | None:
    """Return where to write; an error comes before a long run."""
    if file is None:
        return None
    path = invocation.path(file)
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise ConfigError(f"{path}: cannot be written", "give a file in an existing folder")
    return path


def _of_questions(
    invocation: Invocation, engine: Engine, questions: Path, root: Path | None
) -> Generator[Output, None, SuiteResult]:
    """Ask a file of questions in the index of a folder, which the first query makes."""
    from codesearch.engine.scope import Scope
    from codesearch.evaluation.questions import questions_text, read_own_questions, score_questions

    asked = read_own_questions(questions)
    scope = Scope(here=invocation.path(root) if root else invocation.terminal.here)
    session = yield from invocation.session(engine, scope)
    with stage_progress("questions") as on_progress:
        result = score_questions(session, asked, on_progress)
    yield Output(questions_text(questions, result), freshness_notes(session.freshness))
    return result
