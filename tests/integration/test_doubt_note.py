"""The note above answers that probably are none, with the shipped model."""

from __future__ import annotations

import json

import pytest

from codesearch.evaluation.suites.smoke import FOLDER
from tests.command import Command
from tests.conftest import index_by_engine

NOTE = "note: nothing here seems to do this; what comes nearest:\n"


@pytest.fixture(scope="module")
def ask(tmp_path_factory) -> Command:
    home = tmp_path_factory.mktemp("home")
    index_by_engine(FOLDER / "sources", home)
    return Command(FOLDER / "sources", home)


def test_a_query_for_what_is_not_there_is_told_so_on_stderr_and_answered(ask):
    done = ask("query", "render a 3d mesh with shadows", "-k", 3)
    assert (done.returncode, done.stderr) == (0, NOTE)
    assert done.stdout.splitlines()[-1].startswith("3 answers from ")


def test_json_has_the_confidence_and_no_note(ask):
    done = ask("query", "render a 3d mesh with shadows", "--json")
    answer = json.loads(done.stdout)
    assert done.stderr == "" and answer["low_confidence"] and 0 <= answer["confidence"] < 0.3
    answer = json.loads(ask("query", "base64 encode", "--json").stdout)
    assert not answer["low_confidence"] and answer["confidence"] > 0.3


def test_what_is_there_gets_no_note_nor_does_one_half_alone(ask):
    assert ask("query", "base64 encode").stderr == ""
    assert ask("query", "render a 3d mesh with shadows", "--mode", "semantic").stderr == ""
