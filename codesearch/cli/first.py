"""Open the session of a command; index what is not indexed yet before its answer. It imports little."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.cli.invocation import Invocation, Output
from codesearch.errors import IndexNotFoundError
from codesearch.settings import IndexingSettings, RefreshSettings
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.engine import Engine
    from codesearch.engine.reports import IndexReport
    from codesearch.engine.revisions import Revision
    from codesearch.engine.scope import Scope
    from codesearch.engine.session import Session


def opened(
    engine: Engine,
    scope: Scope,
    invocation: Invocation,
    options: IndexingSettings,
    *,
    is_complete: bool = False,
) -> Generator[Output, None, Session]:
    """Open a session, and say in one line each what was indexed for it; `is_complete` allows long updates too."""
    from codesearch.engine.session import REFRESH_S, Policy

    done: list[Output] = []

    def indexing(wanted: Path | Revision, index: Callable[..., IndexReport]) -> None:
        from codesearch.cli.notes import build_notes, build_progress, counted

        name = str(wanted) if isinstance(wanted, Path) else f"{wanted.name} of {wanted.project}"
        with build_progress(os.path.basename(name)) as on_progress:
            report = index(on_progress=on_progress)
        line = f"indexed {visible(name)}: {counted(report.documents, 'document')} in {report.seconds:.1f} s\n"
        done.append(Output(err=line + build_notes(report)))

    is_served = invocation.pool is not None
    budget_s = math.inf if is_complete else REFRESH_S
    may_compare = not isinstance(options, RefreshSettings) or options.refresh
    policy = Policy(options.auto_index and not is_served, budget_s if may_compare else None, indexing)
    try:
        session = engine.session(scope, policy)
    finally:
        yield from done
    if is_served and options.auto_index and session.missing:
        raise IndexNotFoundError("a folder of the group is not indexed", "its client indexes it")
    return session
