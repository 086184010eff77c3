"""Texts that are open in an editor."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from codesearch.parsing.extract import Extraction
from codesearch.structure import buffers


def test_several_questions_about_a_change_parse_the_text_once(monkeypatch):
    asked, parsed = Barrier(4), []

    def extraction_of(path: Path, text: str, content: str) -> Extraction:
        parsed.append(text)
        time.sleep(0.1)  # Without a lock, all questions are here now.
        return Extraction([], [])

    def ask(_: int) -> Extraction:
        asked.wait()
        return buffers.parsed(Path("/src/a.py"), "def once():\n    pass\n")

    monkeypatch.setattr(buffers, "extraction_of", extraction_of)
    with ThreadPoolExecutor(4) as threads:
        first, *others = threads.map(ask, range(4))
    assert parsed == ["def once():\n    pass\n"]
    assert all(other is first for other in others)
