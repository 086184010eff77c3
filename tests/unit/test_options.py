"""Options that records and commands declare."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import pytest

from codesearch.cli.main import COMMANDS, function_of
from codesearch.errors import ConfigError
from codesearch.options import ENVIRONMENT, PROJECT, Opt, Record, options_of, read
from codesearch.settings import SETTINGS


class Base(Record):
    home: Annotated[Path | None, Opt("The home.")] = None
    hits: Annotated[int, Opt("Hits.", "-n --hits", low=1)] = 5


class Own(Base):
    lang: Annotated[tuple[str, ...], Opt("Languages.")] = ()
    note: Annotated[str, Opt("A note.")] = ""
    other: int = 3


def command(words: list[str], own: Own, quiet: Annotated[bool, Opt("Say less.")] = False) -> Iterator[str]:
    yield from words


def test_the_options_of_a_record_come_before_those_of_its_bases():
    options = options_of(Own)
    assert [(name, option.kind, option.repeatable, option.default) for name, option in options.items()] == [
        ("lang", str, True, ()),
        ("note", str, False, ""),
        ("home", Path, False, None),
        ("hits", int, False, 5),
    ]
    assert (options["hits"].flags, options["note"].flags) == (("-n", "--hits"), ("--note",))


def test_a_command_has_its_own_options_and_those_of_its_records():
    assert list(options_of(command)) == ["lang", "note", "home", "hits", "quiet"]


def test_a_record_is_read_from_values_that_are_checked():
    values = {"lang": ["go", "c"], "note": None, "home": None, "hits": 2}
    own = read(Own, values)
    assert (own.lang, own.note, own.home, own.hits, own.other) == (("go", "c"), "", None, 2, 3)
    with pytest.raises(ConfigError, match="-n must be at least 1, not 0"):
        read(Own, values | {"hits": 0})


def test_an_empty_value_clears_what_an_index_keeps():
    given = SETTINGS["exclude"].given
    assert [given(values) for values in (None, [], [""], ["", "*.c"])] == [None, None, (), ("*.c",)]


def test_a_command_takes_every_option_once_and_settings_have_one_meaning():
    for name in COMMANDS:
        options = options_of(function_of(name))
        flags = [flag for option in options.values() for flag in "/".join(option.flags).split("/")]
        assert len(flags) == len(set(flags)), name
        settings = [option for option in options.values() if option.is_setting]
        assert settings == [SETTINGS[option.name] for option in settings], name


def test_the_environment_sets_nothing_that_an_index_keeps():
    kept = [option for option in SETTINGS.values() if option.in_index]
    assert len(kept) == 7
    assert not any(ENVIRONMENT in option.opt.set_by for option in kept)


def test_a_project_does_not_choose_servers_models_and_files_outside_of_it():
    assert {name for name, option in SETTINGS.items() if PROJECT not in option.opt.set_by} == set(
        "follow_links groups model backend uri prefix".split()
    )
