"""Index what is not indexed yet before the first answer. Most commands find nothing to do, so this imports little."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codesearch.cli.invocation import Invocation, Output

if TYPE_CHECKING:
    from codesearch.engine.engine import Engine
    from codesearch.engine.reports import IndexReport
    from codesearch.engine.revisions import Revision
    from codesearch.engine.scope import Scope


def first_indexed(
    engine: Engine, scope: Scope, invocation: Invocation, options: Mapping[str, Any]
) -> Iterator[Output]:
    """Index the projects of a scope that no index covers, unless an option forbids it."""
    if options["auto_index"] and invocation.pool is None:  # A service leaves it to its client.
        if scope.at:
            yield from revision_indexed(engine, scope)
            return
        for project in engine.missing_projects(scope):
            yield _indexed(project, engine.index_project)
        for root in engine.outdated_roots(scope):
            yield _indexed(root, engine.index)


def revision_indexed(engine: Engine, scope: Scope) -> Iterator[Output]:
    """Index the git revision that a scope names, if it is not indexed."""
    revision = engine.revision(scope)
    if revision and not engine.is_indexed(revision):
        yield _indexed(revision, engine.index_revision)


def _indexed(wanted: Path | Revision, index: Callable[..., IndexReport]) -> Output:
    """Index a folder or a revision before the first search in it, and say so in one line."""
    from codesearch.cli.numbers import counted
    from codesearch.cli.progress import build_notes, build_progress
    from codesearch.visible import visible

    name = str(wanted) if isinstance(wanted, Path) else f"{wanted.name} of {wanted.project}"
    with build_progress(os.path.basename(name)) as on_progress:
        report = index(wanted, on_progress=on_progress)
    done = f"indexed {visible(name)}: {counted(report.documents, 'document')} in {report.seconds:.1f} s\n"
    return Output(err=done + build_notes(report))
