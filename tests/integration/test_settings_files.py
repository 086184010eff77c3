"""Settings in files and variables, as the commands use them."""

import json
from dataclasses import replace

import pytest

from tests.command import Command


@pytest.fixture
def here(tiny_repo, home, tmp_path) -> Command:
    return Command(tiny_repo, home, {"XDG_CONFIG_HOME": str(tmp_path / "config")})


@pytest.fixture
def project(tiny_repo):
    return tiny_repo / ".codesearch.toml"


def hits(done) -> int:
    assert done.returncode == 0, done.stderr
    return len(done.stdout.splitlines())


def test_the_number_of_hits_comes_from_option_variable_project_and_user(here, project, tmp_path):
    assert here("index", ".").returncode == 0
    user = tmp_path / "config" / "codesearch" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text("hits = 4\n")
    assert hits(here("query", "push", "--jsonl")) == 4
    project.write_text("hits = 3\n")
    assert hits(here("query", "push", "--jsonl")) == 3
    by_variable = replace(here, variables={**here.variables, "CODESEARCH_HITS": "2"})
    assert hits(by_variable("query", "push", "--jsonl")) == 2
    assert hits(by_variable("query", "push", "--jsonl", "-k", "1")) == 1
    found = json.loads(by_variable("config", "--json").stdout)
    assert found["hits"] == {"value": 2, "source": "$CODESEARCH_HITS"}
    assert found["mode"] == {"value": "hybrid", "source": "default"}


def test_a_change_of_the_project_file_is_taken_up_by_the_next_query(here, project):
    assert "13 documents" in here("index", ".").stdout
    project.write_text('exclude = ["*.go"]\n')
    done = here("query", "whole file", "--jsonl", "-k", "50")
    assert done.returncode == 0 and ".go" not in done.stdout
    project.write_text('languages = ["py"]\n')
    assert "languages  python" in here("index", ".", "--rebuild").stdout
    project.unlink()
    assert "13 documents" in here("index", ".").stdout


def test_an_option_of_index_wins_and_is_remembered_until_it_is_cleared(here, project):
    project.write_text('exclude = ["*.go"]\n')
    assert here("index", ".", "--exclude", "*.py", "--lang", "go").returncode == 0
    assert "languages  go" in here("index", ".", "--lang", "golang", "--rebuild", "--exclude", "*.py").stdout
    project.write_text("hidden = false\n")
    status = json.loads(here("status", "--json").stdout)[0]["settings"]
    assert (status["exclude"], status["languages"]) == (["*.py"], ["golang"])
    assert "13 documents" in here("index", ".", "--exclude", "", "--lang", "").stdout


@pytest.mark.parametrize("words", [("query", "push"), ("index", "."), ("config",)])
def test_an_invalid_file_is_a_one_line_error_in_every_command_except_help(here, project, words):
    project.write_text("hits = 'few'\n")
    assert here.fails(*words) == f"error: {project}: 'hits' must be a whole number, not 'few'\n"
    assert here(*words, "--help").returncode == 0
