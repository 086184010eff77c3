"""The installed grammars: a language's parser, its query and the version of its wheel."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module, resources
from importlib.util import find_spec
from typing import TYPE_CHECKING

from codesearch.errors import MissingExtraError
from codesearch.parsing.languages import LanguageSpec, language_named

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Query

_INHERITS = re.compile(r"; inherits: (\w+)\n")


@cache
def is_installed(spec: LanguageSpec) -> bool:
    """Say whether the language has a grammar and it is installed."""
    return bool(spec.grammar) and find_spec(spec.grammar) is not None


@cache
def load_grammar(spec: LanguageSpec) -> Language:
    """Load the grammar, once a process."""
    from tree_sitter import Language

    try:
        module = import_module(spec.grammar)
    except ModuleNotFoundError:
        raise MissingExtraError(spec.distribution) from None
    return Language(getattr(module, spec.factory)())


@cache
def load_parser(spec: LanguageSpec) -> Parser:
    """Make a parser of the language, once a process."""
    from tree_sitter import Parser

    return Parser(load_grammar(spec))


@cache
def load_query(spec: LanguageSpec) -> Query:
    """Compile the language's query file, once a process."""
    from tree_sitter import Query

    return Query(load_grammar(spec), query_source(spec.query or spec.name))


def query_source(stem: str) -> str:
    """Read a query file, and before it the file that its first line says it inherits."""
    text = resources.files("codesearch.parsing").joinpath("queries", f"{stem}.scm").read_text("utf-8")
    inherited = _INHERITS.match(text)
    return f"{query_source(inherited[1])}{text}" if inherited else text


def grammar_version(spec: LanguageSpec) -> str:
    """Return the version of the installed grammar; "" if it is not installed."""
    found = find_spec(spec.grammar)
    if found is None or found.origin is None:
        return ""
    # Every command calls this, and `importlib.metadata` takes 25 ms to import, so the folder's name is read.
    prefix, ending = f"{spec.grammar}-", ".dist-info"
    for name in _installed(os.path.dirname(os.path.dirname(found.origin))):
        if name.startswith(prefix) and name.endswith(ending):
            return name.removeprefix(prefix).removesuffix(ending)
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(spec.distribution)
    except PackageNotFoundError:
        return ""


def distributions(languages: Iterable[str]) -> list[str]:
    """Return the packages that hold the grammars of some languages, each once."""
    specs = filter(None, map(language_named, languages))
    return list(dict.fromkeys(spec.distribution for spec in specs))


@cache
def _installed(site_packages: str) -> list[str]:
    return sorted(os.listdir(site_packages))
