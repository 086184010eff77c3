"""Portable files and model bundles with random damage: each is refused in one line, or it works.

The checksums of a damaged bundle are right, as those of a stranger are.
"""

import json
import os
import random
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.errors import CodeSearchError
from codesearch.portable.pack import HEAD
from codesearch.text.onnx import OnnxEncoder
from tests.conftest import TINY_REPO, write_tree
from tests.tiny_bundle import DIM, FILES, VOCABULARY, write_manifest

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
                content = other_value(content, chance)
            out.writestr(entry, content)


def other_value(content: bytes, chance: random.Random) -> bytes:
    """Return a JSON document with another value somewhere."""
    head = json.loads(content)
    *outer, last = chance.choice(list(leaves(head)))
    place = head
    for key in outer:
        place = place[key]
    place[last] = chance.choice(VALUES)
    return json.dumps(head).encode()


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


def with_other_description(bundle: Path, chance: random.Random) -> None:
    path = bundle / "manifest.json"
    path.write_bytes(other_value(path.read_bytes(), chance))


def with_other_file(bundle: Path, chance: random.Random) -> None:
    """Change a file, with right checksums."""
    path = bundle / chance.choice(FILES)
    if path.suffix == ".json" and chance.random() < 0.8:
        path.write_bytes(other_value(path.read_bytes(), chance))
    else:
        with_other_bytes(path, path, chance)
    write_manifest(bundle, json.loads((bundle / "manifest.json").read_text()))


def with_odd_file(bundle: Path, chance: random.Random) -> None:
    """Put what is no file in place of one."""
    path = bundle / chance.choice((*FILES, "manifest.json"))
    path.unlink()
    chance.choice((path.mkdir, lambda: os.mkfifo(path), lambda: path.symlink_to(path), lambda: None))()


@pytest.mark.parametrize("damage", [with_other_description, with_other_file, with_odd_file])
@pytest.mark.parametrize("with_rows", [False, True])
def test_a_damaged_bundle_is_refused_in_one_line_or_embeds(tiny_bundle, tmp_path, damage, with_rows):
    graph, table = (
        (tiny_bundle / FILES[0]).read_bytes(),
        np.random.default_rng(0).standard_normal(VOCABULARY * DIM),
    )
    array = {"offset": graph.index(table.astype(np.float32).tobytes()), "dtype": "float32"}
    rows = {"table": {**array, "shape": [VOCABULARY, DIM]}, "weights": {**array, "shape": [VOCABULARY]}}
    manifest = json.loads((tiny_bundle / "manifest.json").read_text())
    manifest["rows"] = {name: {**rows, "repeat_power": -0.5} for name in FILES[:2]} if with_rows else {}
    refused = 0
    for case in range(CASES):
        bundle = Path(shutil.copytree(tiny_bundle, tmp_path / str(case)))
        (bundle / "manifest.json").write_text(json.dumps(manifest))
        damage(bundle, random.Random(case))
        try:
            encoder = OnnxEncoder.load(bundle, "cpu")
            tokens = encoder.tokenizer.encode_document("def int_to_string(x): pass", 200, "python")
            vectors = [encoder.encode_queries(["int to string", ""]), encoder.encode_documents([tokens])]
            vectors.append(encoder.encode_passages([tokens, tokens]))
            assert {vector.shape[1:] for vector in vectors} == {(encoder.dim,)}, case
        except CodeSearchError as error:
            assert "\n" not in str(error), case
            refused += 1
    assert refused > CASES / 10
