"""The note about low confidence, with the shipped model."""

import json
import re
import subprocess
from collections.abc import Iterator

import pytest

from codesearch.evaluation.suites import SMOKE, sample_tree
from codesearch.search.forms import ENGLISH_ONLY
from tests.command import Command
from tests.conftest import index_by_engine

NOTE = (
    r"note: probably nothing here does this \(confidence [12]?\d%\); "
    r'no definition here has "render", "mesh", "shadows"\n'
)


@pytest.fixture(scope="module")
def ask(tmp_path_factory) -> Iterator[Command]:
    home = tmp_path_factory.mktemp("home")
    with sample_tree(SMOKE, tmp_path_factory.mktemp("sources")) as root:
        index_by_engine(root, home)
        yield Command(root, home)


def test_a_query_without_an_answer_gets_a_note_on_stderr_and_the_nearest_hits(ask):
    done = ask("query", "render a 3d mesh with shadows", "-k", 3)
    assert done.returncode == 0 and re.fullmatch(NOTE, done.stderr)
    assert done.stdout.splitlines()[-1].startswith("not shown: ")

    done = subprocess.run(
        ask.line("query", "render a 3d mesh with shadows"),
        cwd=ask.folder,
        env=ask.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    assert re.fullmatch(NOTE, done.stdout.splitlines(keepends=True)[-1]), "the note is not last"


def test_json_has_the_confidence_and_no_note(ask):
    done = ask("query", "render a 3d mesh with shadows", "--json")
    answer = json.loads(done.stdout)
    assert done.stderr == "" and answer["low_confidence"] and 0 <= answer["confidence"] < 0.3
    answer = json.loads(ask("query", "base64 encode", "--json").stdout)
    assert not answer["low_confidence"] and answer["confidence"] > 0.3


def test_a_query_with_an_answer_and_a_search_by_vectors_alone_get_no_note(ask):
    assert ask("query", "base64 encode").stderr == ""
    assert ask("query", "render a 3d mesh with shadows", "--mode", "semantic").stderr == ""


def test_a_note_says_that_nothing_has_a_quoted_text(ask):
    said = ask("query", '"base64 encoder of meshes"').stderr
    assert said.endswith("no definition has the quoted text: -F searches other lines too\n")
    assert "quoted" not in ask("query", '"return base64"', "--min-confidence", "0").stderr


ABSENT = "render a 3d mesh with shadows"


def test_below_the_minimum_confidence_there_are_no_hits_and_the_note_says_why(ask):
    done = ask("query", ABSENT, "--min-confidence", "0.3", "--jsonl")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(
        r"note: hits are hidden: confidence [12]?\d%, below --min-confidence 30%\n", done.stderr
    )
    answer = json.loads(ask("query", ABSENT, "--min-confidence", "0.3", "--json").stdout)
    assert answer["hits"] == [] and answer["low_confidence"] and answer["filters_match"]


def test_at_the_minimum_confidence_and_without_a_confidence_hits_are_printed(ask):
    for options in (("--min-confidence", "0.3"), ("--min-confidence", "1", "--mode", "lexical")):
        done = ask("query", "base64 encode", *options, "--vimgrep")
        assert (done.returncode, done.stderr) == (0, "") and done.stdout
    assert ask("query", ABSENT, "--min-confidence", "0", "--vimgrep").returncode == 0


def test_if_no_document_passes_the_filters_this_is_the_only_note(ask):
    for options in ((), ("--min-confidence", "0.5")):
        done = ask("query", ABSENT, "--path", "*.absent", *options)
        assert (done.returncode, done.stderr) == (
            1,
            f"no document matches --path '*.absent' in {ask.folder}\n",
        )


def test_a_query_in_another_language_gets_a_note_that_the_model_knows_english(ask):
    assert ask("query", "eine Liste nach dem Namen sortieren").stderr == f"note: {ENGLISH_ONLY}\n"
    assert ENGLISH_ONLY not in ask("query", "sort a list by name").stderr
