"""Portable files with random damage: an import is refused in one line, or the index that it makes answers."""

import json
import os
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.errors import CodeSearchError
from codesearch.portable.pack import HEAD
from tests.conftest import TINY_REPO, write_tree

CASES = int(os.environ.get("CODESEARCH_FAULT_CASES", "60"))
VALUES = (
    None,
    -1,
    2**70,
    1e300,
    float("nan"),
    "",
    "../x",
    "x" * 5_000,
    [],
    [None],
    {},
    {"a": []},
    True,
    [[1]],
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory, tiny_bundle) -> Path:
    folder = tmp_path_factory.mktemp("portable")
    engine = Engine(folder / "home", model=tiny_bundle)
    engine.index(write_tree(folder / "tiny", TINY_REPO))
    engine.export(folder / "x", folder / "tiny", with_code=True)
    engine.close()
    return folder / "x"


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value in a JSON document."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from leaves(inner, (*path, key))


def with_other_value(exported: Path, target: Path, chance: random.Random) -> None:
    """Write the file with another value of one field of its manifest."""
    with zipfile.ZipFile(exported) as archive, zipfile.ZipFile(target, "w") as out:
        for entry in archive.infolist():
            content = archive.read(entry)
            if entry.filename == HEAD:
                head = json.loads(content)
                *outer, last = chance.choice(list(leaves(head)))
                place = head
                for key in outer:
                    place = place[key]
                place[last] = chance.choice(VALUES)
                content = json.dumps(head).encode()
            out.writestr(entry, content)


def with_other_bytes(exported: Path, target: Path, chance: random.Random) -> None:
    """Write the file with a few other bytes, or without its end."""
    content = bytearray(exported.read_bytes())
    for _ in range(chance.choice((1, 1, 8))):
        content[chance.randrange(len(content))] = chance.randrange(256)
    end = chance.choice((len(content), len(content), chance.randrange(len(content))))
    target.write_bytes(content[:end])


@pytest.mark.parametrize("damage", [with_other_value, with_other_bytes])
def test_a_damaged_file_is_refused_in_one_line_or_its_index_answers(exported, tmp_path, tiny_bundle, damage):
    refused = 0
    for case in range(CASES):
        chance = random.Random(case)
        damage(exported, tmp_path / "x", chance)
        engine = Engine(tmp_path / "home", model=tiny_bundle)
        try:
            engine.import_index(tmp_path / "x", name="tiny")
            engine.search("push", Scope(("tiny",)))
            engine.session(Scope(("tiny",))).outline(".")
        except CodeSearchError as error:
            assert "\n" not in str(error), case
            refused += 1
        finally:
            engine.close()
    assert refused > CASES / 3
