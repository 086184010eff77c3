"""The definitions of a file that need not be indexed or saved."""

from pathlib import Path

import pytest

from codesearch.errors import ConfigError
from codesearch.search.similar import extraction_of
from codesearch.structure.whole import nested


def test_the_text_is_parsed_in_place_of_the_file(tmp_path):
    (tmp_path / "a.py").write_text("def saved():\n    pass\n")
    assert [one.name for one in extraction_of(tmp_path / "a.py").documents] == ["saved"]
    assert [one.name for one in extraction_of(tmp_path / "a.py", "def other(): pass\n").documents] == [
        "other"
    ]


def test_documentation_has_sections_with_depths():
    text = "# Top\n\nText.\n\n## Part\n\nMore.\n\n# Next\n\nEnd.\n"
    found = extraction_of(Path("a.md"), text, "all").documents
    depths = [(len(around), one.name) for around, one in nested(found)]
    assert depths == [(0, "Top"), (1, "Part"), (0, "Next")]


def test_a_file_that_is_missing_or_of_no_known_language_is_refused(tmp_path):
    with pytest.raises(
        ConfigError, match="missing.py: No such file or directory: give a file that can be read"
    ):
        extraction_of(tmp_path / "missing.py")
    with pytest.raises(ConfigError, match="image.png: not a source file of a known language"):
        extraction_of(Path("image.png"), "")
