"""A file -> its language, and the grammar and the query of a language.

A query file captures the node of each definition as a kind of `codesearch.types.KINDS`, as `@anonymous` (a callback;
short ones are left out), as `@scope` (no document, but its name qualifies the definitions in it) or as `@owner` (a
scope whose functions are methods). It captures the `@name`, and if they exist the `@body`, the `@receiver` (a qualifier
that is a part of the definition itself), the `@docstring` and the `@table` (a collection that is the value of a
constant). `@test` marks a test. `@comment` and `@attribute` nodes are expected above a definition. Attributes at its
start are not part of its signature. A first line `; inherits: NAME` adds the patterns of another file before its own.
The patterns below a line `; each: NODE NODE` hold for each of these nodes in place of `EACH`, up to a blank line.
Below a line `; let WORD = PATTERN`, the pattern stands in place of the word, also in earlier ones' place.
`query_settings` explains what `#set!` says about a language.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from codesearch.config import CONTENT
from codesearch.errors import ConfigError, MissingExtraError
from codesearch.languages.records import BLOCK_LANGUAGES, LANGUAGES, OTHER, TEXT_LANGUAGES, Language

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser, Query

_INHERITS = re.compile(r"; inherits: (\w+)\n")
_LET = re.compile(r"; let (\w+) = (.+)\n")
_EACH = re.compile(r"; each: (.+)\n((?:.+\n)+)")
_LEFT_OUT = re.compile(
    r"""(?:^|[-_.])(?:lock|shrinkwrap)\.(?:json|ya?ml|toml)$        # package-lock.json, pnpm-lock.yaml
    | \.(?:lock|lockfile|sum|map|snap|csv|tsv|log|svg|geojson|pot?|patch|diff|orig|rej|bak|swp)$
    | \.min\.\w+$ | ^(?:licen[cs]e|copying|notice)\b
    | (?:^|\.)env(?:rc)?$ | ^\.?env\.(?!example$|sample$|template$|dist$)       # They hold passwords and keys.
    | ^(?:secret|credential)s?\.(?!md|rst|txt)
    | \.(?:pem|key|crt|cer|csr|der|p12|pfx|jks|keystore|gpg|asc|pub)$ | ^(?:id_\w+|\.?(?:netrc|npmrc|pypirc|htpasswd))$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BINARY = re.compile(  # Endings of images, archives, programs, data and documents.
    r"""\.(?:png|jpe?g|gif|bmp|ico|icns|webp|tiff?|psd|pdf|zip|gz|tgz|bz2|xz|zst|7z|rar|jar|war|whl|egg|class|pyc|pyo|so
    |dylib|dll|exe|o|a|lib|obj|bin|dat|db|sqlite3?|wasm|woff2?|ttf|otf|eot|mp[34]|m4a|wav|ogg|flac|avi|mov|webm|mkv
    |npy|npz|parquet|onnx|pt|pkl|h5|iso|dmg|deb|rpm|docx?|xlsx?|pptx?)$""",
    re.VERBOSE | re.IGNORECASE,
)
_EXAMPLES = (".example", ".sample", ".template", ".dist")
_CPP_ONLY = re.compile(
    rb"""^[ \t]*+(?:class\s+\w | namespace\b | template\s*< | (?:public|private|protected)\s*:
    | enum\s+(?:class|struct)\s+\w | using\s+(?:namespace\s|\w+\s*=)
    | (?:struct|class)\s+(?:[A-Z]\w*\s+)?\w+(?:\s+final)?\s*:\s*[\w:]      # a type with bases
    | (?!\#|//|\*|/\*)[\w:&*<> \t]{1,80}\boperator\s*                       # an operator of a type
        (?:[-+*/%=<>!&|^~\[]|\(\s{0,9}\)|new\b|delete\b|bool\b))
    | \bstd::\w | =[ \t]*(?:default|delete)[ \t]*; | \b(?:static|dynamic|const|reinterpret)_cast<
    | \bvirtual[ \t]+~?[\w:<>&*\ ]{1,80}\([^()\n]{0,200}\)                  # a virtual function, with its marks
        (?:\s{0,9}(?:const|noexcept|override|final|=\s{0,9}0)){0,4}\s{0,9}[;{]""",
    re.MULTILINE | re.VERBOSE,
)
_OBJC = re.compile(rb"^@(?:(interface|protocol|implementation)|class|import)\b", re.MULTILINE)
_DIRECTIVE = re.compile(rb"^[ \t]*+#[ \t]*(?:include|define|ifn?def|endif)\b", re.MULTILINE)
_BY_SOURCE = {"c": ("cpp", "objc"), "objc": ("cpp", "matlab"), "php": ("c", "other", "template")}
_HEAD_BYTES = 2_000
_MATLAB = re.compile(rb"\A\s*(?:%|function\b|classdef\b)")
_SIMILAR = 0.75  # How alike a name with the same first letter must be to be proposed: "ruby" for "rubi"
_CODE = (*LANGUAGES, *BLOCK_LANGUAGES)
_BY_NAME = {spec.name: spec for spec in (*_CODE, *TEXT_LANGUAGES, OTHER)}
_SHORT_NAMES = {spec.short_name: spec.name for spec in _CODE if spec.short_name}
_BY_EXTENSION = {extension: spec for spec in _CODE for extension in spec.extensions}
_BY_FILE_NAME = {name: spec for spec in _CODE for name in spec.file_names}
_TEXT_BY_ENDING = {ending: spec for spec in TEXT_LANGUAGES for ending in (*spec.extensions, *spec.file_names)}
_VARIANTS = {name: _TEXT_BY_ENDING[name] for name in ("Dockerfile", "Makefile")}
"""Names that may be followed by anything: `Dockerfile.dev`, `Makefile.am`."""
_BY_INTERPRETER = {interpreter: spec for spec in _CODE for interpreter in spec.interpreters}


def language_named(name: str) -> Language | None:
    """Return the entry called `name`, or None."""
    return _BY_NAME.get(name)


def record_of(name: str) -> Language:
    """Return the record of a language; that of other text for an unknown name."""
    return _BY_NAME.get(name, OTHER)


def family_of(name: str) -> str:
    """Return the first of the languages that use the definitions of a language too."""
    return record_of(name).family or name


def language_name(text: str) -> str:
    """Return the name of the language with this name, usual short name or extension.

    >>> language_name("py"), language_name("C++"), language_name(".ts"), language_name("golang")
    ('python', 'cpp', 'typescript', 'go')
    """
    name = text.strip().lower()
    if name in _BY_NAME:
        return name
    if name in _SHORT_NAMES:
        return _SHORT_NAMES[name]
    suffix = f".{name.removeprefix('.')}"
    spec = _BY_EXTENSION.get(suffix) or _TEXT_BY_ENDING.get(suffix) or _BY_INTERPRETER.get(name)
    if spec is None:
        from difflib import get_close_matches

        names = (*_BY_NAME, *_SHORT_NAMES)
        # "ypthon" is python.
        alike = ([known for known in names if known[0] == letter] for letter in name[:2])
        near = [match for of_letter in alike for match in get_close_matches(name, of_letter, 1, _SIMILAR)]
        known = ", ".join(spec.name for spec in LANGUAGES)
        cure = f"did you mean {near[0]}?" if near else f"choose one of {known} or of docs/languages.md"
        raise ConfigError(f"unknown language {text!r}", cure)
    return spec.name


def language_of_path(path: str, content: str = "code") -> Language | None:
    """Return the language of a file by its name, or None.

    >>> language_of_path("docs/guide.md", "all").name, language_of_path("docs/guide.md")
    ('markdown', None)
    """
    name = path.rpartition("/")[2]
    spec = _BY_FILE_NAME.get(name) or _BY_EXTENSION.get(os.path.splitext(name)[1].lower())
    if spec is None and content != "code":
        spec = _text_language(name)
    return spec if spec and spec.content in CONTENT[content] else None


def is_binary(name: str) -> bool:
    """Say whether files with such a name hold no text."""
    return _BINARY.search(name) is not None


def _text_language(name: str) -> Language | None:
    """Return the language of a file that is not code by its name; None for data, secrets and licences."""
    if _LEFT_OUT.search(name) or is_binary(name):
        return None
    stem, suffix = os.path.splitext(name)
    if suffix.lower() in _EXAMPLES:
        stem, suffix = os.path.splitext(stem)
    return _TEXT_BY_ENDING.get(suffix.lower() or stem) or _VARIANTS.get(stem.partition(".")[0]) or OTHER


def language_of_shebang(first_line: bytes) -> Language | None:
    """Return the language that a `#!` line names, or None."""
    if not first_line.startswith(b"#!"):
        return None
    for word in first_line[2:].decode("ascii", "ignore").replace("/", " ").split():
        if spec := _BY_INTERPRETER.get(word.rstrip("0123456789.")):
            return spec
    return None


def language_of_source(spec: Language, path: str, source: bytes) -> Language:
    """Return the language of a file whose extension several languages have: `.h`, `.inc`, `.m`, `.mm` and `.php`."""
    if spec.name == "javascript" and b"@flow" in source[:_HEAD_BYTES]:
        return replace(spec, grammar="tree_sitter_typescript", factory="language_tsx", query="typescript")
    if spec.name == "php" and b"<?" not in source:
        is_template = path.endswith(".php")
        spec = _BY_NAME["template" if is_template else "c" if _DIRECTIVE.search(source) else "other"]
    if path.endswith(".mm") or (spec.name == "c" and not path.endswith(".c")):
        declared = [match[1] for match in _OBJC.finditer(source)]
        if not any(declared) and _CPP_ONLY.search(source):  # The grammar of Objective-C knows no C++.
            return _BY_NAME["cpp"]
        return _BY_NAME["objc"] if declared else spec
    return _BY_NAME["matlab"] if path.endswith(".m") and _MATLAB.search(source) else spec


def may_be_of(name: str, of_path: str) -> bool:
    """Say whether `language_of_source` may give this language to a file that has another one by its path.

    >>> may_be_of("cpp", "c"), may_be_of("c", "cpp")
    (True, False)
    """
    return name == of_path or name in _BY_SOURCE.get(of_path, ())


@cache
def is_installed(spec: Language) -> bool:
    """Say whether the language has a grammar and it is installed."""
    return bool(spec.grammar) and find_spec(spec.grammar) is not None


@cache
def load_grammar(spec: Language) -> Grammar:
    """Load the grammar, once a process."""
    from tree_sitter import Language as Grammar

    try:
        module = import_module(spec.grammar)
    except ModuleNotFoundError:
        raise MissingExtraError(spec.distribution) from None
    return Grammar(getattr(module, spec.factory)())


@cache
def load_parser(spec: Language) -> Parser:
    """Make a parser of the language, once a process."""
    from tree_sitter import Parser

    return Parser(load_grammar(spec))


@cache
def load_query(spec: Language) -> Query:
    """Compile the language's query file, once a process."""
    from tree_sitter import Query

    return Query(load_grammar(spec), query_source(spec.query or spec.name))


@cache
def query_settings(spec: Language) -> dict[str, str | None]:
    """Return what `#set!` says in the query of a language.

    joins: functions of one name that follow each other are one: its "clauses", or its "overloads" without a body.
    tests: a pattern of attributes that mark a test.
    documents: with "above", a documentation comment may stand below what it documents.
    """
    query = load_query(spec)
    settings = map(query.pattern_settings, range(query.pattern_count))
    return {name: value for of_pattern in settings for name, value in of_pattern.items()}


def query_source(stem: str) -> str:
    """Read a query file, and before it the file that its first line says it inherits."""
    from importlib import resources

    text = resources.files("codesearch.languages").joinpath("queries", f"{stem}.scm").read_text("utf-8")
    for name, value in reversed(_LET.findall(text)):
        text = re.sub(rf"\b{name}\b(?! = )", value.replace("\\", r"\\"), text)
    text = _EACH.sub(lambda match: "".join(match[2].replace("EACH", node) for node in match[1].split()), text)
    inherited = _INHERITS.match(text)
    return f"{query_source(inherited[1])}{text}" if inherited else text


@cache
def grammar_version(spec: Language) -> str:
    """Return the version of the installed grammar; "" if it is not installed."""
    found = find_spec(spec.grammar)
    if found is None or found.origin is None:
        return ""
    # Every command calls this, and `importlib.metadata` takes 25 ms to import, so the folder's name is read.
    prefix, ending = f"{spec.grammar}-", ".dist-info"
    for name in _installed(os.path.dirname(os.path.dirname(found.origin))):
        if name.startswith(prefix) and name.endswith(ending):
            return name.removeprefix(prefix).removesuffix(ending)
    return ""


def distributions(languages: Iterable[str]) -> list[str]:
    """Return the packages that hold the grammars of some languages, each once."""
    specs = filter(None, map(language_named, languages))
    return list(dict.fromkeys(spec.distribution for spec in specs))


@cache
def _installed(site_packages: str) -> list[str]:
    return sorted(os.listdir(site_packages))
