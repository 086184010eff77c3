import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard

from codesearch.errors import ConfigError, MissingExtraError
from codesearch.evaluation import jsonl

ROW = {"repo": "o/n", "sha": "c0ffee", "path": "src/a.py", "language": "python", "text": "é = 1\r\n"}


def packed(folder: Path, *rows: Any) -> Path:
    pack = folder / "sources.jsonl.zst"
    text = "".join(json.dumps(row) + "\n" for row in rows)
    pack.write_bytes(zstandard.compress(text.encode()))
    return pack


def unpack(pack: Path, tmp_path: Path) -> Path:
    jsonl.unpack(pack, tmp_path / "tree", lambda *_: None)
    return tmp_path / "tree"


def test_files_are_written_byte_for_byte_below_their_commit(tmp_path):
    tree = unpack(packed(tmp_path, ROW), tmp_path)
    assert (tree / "o/n/c0ffee/src/a.py").read_bytes() == "é = 1\r\n".encode()


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({**ROW, "path": "../../x"}, ":1: path 'o/n/c0ffee/../../x' leads out"),
        ({**ROW, "path": "/etc/x"}, ":1: path '/etc/x' leads out"),
        ({"repo": "o/n"}, ":1: no field sha"),
        (["list"], ":1: not an object"),
    ],
)
def test_an_invalid_row_is_refused(tmp_path, row, reason):
    with pytest.raises(ConfigError) as error:
        unpack(packed(tmp_path, row), tmp_path)
    assert reason in str(error.value)
    assert list((tmp_path / "tree").iterdir()) == []


def test_a_pack_that_is_cut_short_is_refused(tmp_path):
    rows = (
        {**ROW, "path": f"{number}.py", "text": random.Random(number).randbytes(99).hex()}
        for number in range(999)
    )
    pack = packed(tmp_path, *rows)
    whole = pack.read_bytes()
    for length in (len(whole) - 200, 20):
        pack.write_bytes(whole[:length])
        with pytest.raises(ConfigError, match="get it again"):
            unpack(pack, tmp_path)


def test_a_pack_without_zstandard_names_the_package(tmp_path, monkeypatch):
    pack = packed(tmp_path, ROW)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match="install 'zstandard>="):
        unpack(pack, tmp_path)
