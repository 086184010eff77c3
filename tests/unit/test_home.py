"""The default folder of the indexes."""

from __future__ import annotations

import ntpath
import posixpath
from types import SimpleNamespace

import pytest

from codesearch import files

WINDOWS = {"LOCALAPPDATA": r"C:\Users\me\AppData\Local", "USERPROFILE": r"C:\Users\me"}


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("posix", {"LOCALAPPDATA": "/x"}, "~/.local/share/codesearch"),
        ("nt", WINDOWS, r"C:\Users\me\AppData\Local\codesearch"),
        ("nt", {**WINDOWS, "CODESEARCH_HOME": "D:\\mine"}, "D:\\mine"),
        ("nt", {"USERPROFILE": "C:\\me"}, "~/.local/share\\codesearch"),
    ],
)
def test_each_operating_system_has_its_data_folder(monkeypatch, system, variables, expected):
    paths = ntpath if system == "nt" else posixpath
    path = SimpleNamespace(join=paths.join, isabs=paths.isabs, expanduser=lambda text: text)
    monkeypatch.setattr(files, "os", SimpleNamespace(name=system, environ=variables, path=path))
    assert files.default_home() == expected
