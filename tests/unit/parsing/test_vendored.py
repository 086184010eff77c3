"""Folders that are copies of other projects, by their licences and by what is beside their scripts."""

from pathlib import Path

import pytest

from codesearch.config import WalkConfig
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED
from codesearch.parsing.walker import WalkSummary, walk
from codesearch.store.snapshot import Snapshot
from codesearch.types import VENDORED
from tests.conftest import write_tree

OURS = "MIT License\n\nCopyright (c) 2019-2024 Jane Roe\n\nThe above copyright notice and this permission\n"
THEIRS = "The MIT License\n\n  (c) 2012 Kevin Brown, Igor Vaynberg and others\n"
GPL = "Copyright (C) 2007 Free Software Foundation, Inc. <http://fsf.org/>\n  Copyright (C) <year>  <name of author>\n"


def vendored(root: Path, files: dict[str, str]) -> list[str]:
    report = WalkSummary()
    list(walk(write_tree(root, files), WalkConfig(), report))
    return report.vendored


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"LICENSE": OURS, "lib/select/LICENSE.md": THEIRS, "lib/select/lib/LICENSE": THEIRS},
            ["lib/select/"],
        ),
        ({"LICENSE": OURS, "lib/core/LICENSE": "Copyright 2021 Jane Roe and contributors\n"}, []),
        ({"LICENSE": OURS, "packages/core/LICENSE": THEIRS}, []),
        ({"LICENSE": OURS, "lib/core/LICENSE": "Everyone may use it.\n"}, []),
        (
            {"COPYING": GPL, "client/LICENSE": OURS, "public/lib/player/MIT-LICENSE.txt": THEIRS},
            ["public/lib/player/"],
        ),
        ({"app/LICENSE": OURS, "public/plugins/select/LICENSE": THEIRS}, ["public/plugins/select/"]),
        ({f"static/grid/{name}": "" for name in ("grid.js", "grid.min.js", "bower.json")}, ["static/grid/"]),
        ({f"static/app/{name}": "" for name in ("app.js", "app.min.js")}, []),
        ({f"app/grid/{name}": "" for name in ("grid.js", "grid.min.js", "bower.json")}, []),
    ],
)
def test_a_folder_with_a_licence_of_others_or_a_published_script_is_vendored(tmp_path, files, expected):
    assert vendored(tmp_path, files) == expected


def test_a_licence_that_comes_and_goes_changes_the_flags_of_the_files_below_it(tmp_path, home, tiny_bundle):
    files = {"LICENSE": OURS, "static/grid/sub/a.py": "def draw(): pass\n", "b.py": "def b(): pass\n"}
    root, engine = write_tree(tmp_path / "src", files), Engine(home, model=tiny_bundle, device="cpu")

    def update() -> tuple[int, dict[str, bool]]:
        report = engine.index(root)
        with engine.session(Scope((root,)), AS_INDEXED).indexes() as (index,):
            flags = {ref.path: bool(ref.row.flags & VENDORED) for ref in Snapshot([index]).refs(range(2))}
        return report.parsed, flags

    assert update() == (2, {"b.py": False, "static/grid/sub/a.py": False})
    write_tree(root, {"static/grid/LICENSE": THEIRS})
    assert update() == (1, {"b.py": False, "static/grid/sub/a.py": True})
    assert update()[0] == 0
    (root / "static/grid/LICENSE").unlink()
    assert update() == (1, {"b.py": False, "static/grid/sub/a.py": False})
    engine.close()
