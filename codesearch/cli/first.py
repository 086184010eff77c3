"""Index what is not indexed yet before the first answer. Most commands find nothing to do, so this imports little."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.cli.invocation import Invocation, Output
from codesearch.errors import CodeSearchError, IndexNotFoundError
from codesearch.settings import IndexingSettings
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.engine import Engine
    from codesearch.engine.reports import IndexReport
    from codesearch.engine.revisions import Revision
    from codesearch.engine.scope import Scope


def first_indexed(
    engine: Engine, scope: Scope, invocation: Invocation, options: IndexingSettings
) -> Generator[Output, None, Scope]:
    """Index what no index covers in a scope, unless an option forbids it; return the scope without what cannot be."""
    if not options.auto_index:
        return scope
    if invocation.pool is not None:
        _leave_to_client(engine, scope)
        return scope
    if scope.at:
        yield from revision_indexed(engine, scope)
        return scope
    for project in engine.missing_projects(scope):
        try:
            done = _indexed(project, engine.index_project)
        except CodeSearchError as error:
            left = [folder for folder in scope.folders if folder != project]
            if not left:
                raise
            scope = replace(scope, folders=left)
            done = Output(err=f"note: {visible(f'{project} is left out: {error.reason}')}\n")
        yield done
    for root in engine.outdated_roots(scope):
        try:
            done = _indexed(root, engine.index)
        except CodeSearchError:
            if len(scope.folders) > 1:  # A note of the answer says that this one is left out.
                continue
            raise
        yield done
    return scope


def _leave_to_client(engine: Engine, scope: Scope) -> None:
    """Raise an error in a service if a folder of a group is to be indexed; its client then runs the command itself.

    A search in one project without an index is an error anyway.
    """
    if scope.folders and (engine.missing_projects(scope) or engine.outdated_roots(scope)):
        raise IndexNotFoundError("a folder of the group is not indexed", "its client indexes it")


def revision_indexed(engine: Engine, scope: Scope) -> Iterator[Output]:
    """Index the git revision that a scope names, if it is not indexed."""
    revision = engine.revision(scope)
    if revision and not engine.is_indexed(revision):
        yield _indexed(revision, engine.index_revision)


def _indexed(wanted: Path | Revision, index: Callable[..., IndexReport]) -> Output:
    """Index a folder or a revision before the first search in it, and say so in one line."""
    from codesearch.cli.numbers import counted
    from codesearch.cli.progress import build_notes, build_progress

    name = str(wanted) if isinstance(wanted, Path) else f"{wanted.name} of {wanted.project}"
    with build_progress(os.path.basename(name)) as on_progress:
        report = index(wanted, on_progress=on_progress)
    done = f"indexed {visible(name)}: {counted(report.documents, 'document')} in {report.seconds:.1f} s\n"
    return Output(err=done + build_notes(report))
