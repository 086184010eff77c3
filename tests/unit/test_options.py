"""The table of options."""

from __future__ import annotations

from collections import Counter

from codesearch.options import ENVIRONMENT, OPTIONS, PROJECT, options_of
from codesearch.search.request import SearchRequest


def test_a_command_or_path_or_tool_has_one_option_of_each_name():
    seen = Counter((use, option.name) for option in OPTIONS for use in option.on)
    assert [twice for twice, count in seen.items() if count > 1] == []


def test_a_setting_has_one_meaning():
    settings = [option.name for option in OPTIONS if option.is_setting]
    assert len(settings) == len(set(settings))


def test_requests_of_programs_have_the_same_defaults():
    request = SearchRequest()
    assert options_of("query")["context_lines"].default == request.context
    for name in ("mode", "all_code", "refresh", "min_confidence", "changed"):
        assert options_of("query")[name].default == getattr(request, name), name


def test_the_environment_sets_nothing_that_an_index_keeps():
    kept = [option for option in OPTIONS if option.in_index]
    assert len(kept) == 7
    assert not any(ENVIRONMENT in option.set_by for option in kept)


def test_a_project_does_not_choose_programs_servers_models_and_files_outside_of_it():
    assert {option.name for option in OPTIONS if option.is_setting and PROJECT not in option.set_by} == {
        "follow_links",
        "pager",
        "groups",
        "model",
        "backend",
        "uri",
        "prefix",
    }
