"""What of the machine a run may use."""

from __future__ import annotations

import pytest

from codesearch import cores


@pytest.mark.parametrize(
    ("machine", "limit", "budget"),
    [
        (24_000_000_000, "max", 4_000_000_000),
        (8_000_000_000, "max", 2_000_000_000),
        (8_000_000_000, "2000000000", 500_000_000),
        (512_000_000, "max", 300_000_000),
    ],
)
def test_workers_have_a_quarter_of_the_memory_together(tmp_path, monkeypatch, machine, limit, budget):
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    monkeypatch.setattr(cores, "LIMITS", (str(tmp_path / "memory.max"), str(tmp_path / "missing")))
    monkeypatch.setattr(cores.os, "sysconf", {"SC_PAGE_SIZE": 1, "SC_PHYS_PAGES": machine}.get, raising=False)
    assert cores.memory_budget_bytes() == budget
