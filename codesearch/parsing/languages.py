"""The table of languages: one entry and one file in `queries/` add a language.

A query file captures, for each definition, a kind of `codesearch.types.KINDS`, `@anonymous` (a callback, kept
when it has three lines), `@scope` (it only lends its name to what is inside) or `@owner` (a scope whose
functions are methods), its `@name`, and where there is one its `@body`, `@receiver` (a qualifier written at
the definition itself), `@docstring` and `@table` (a collection that is the value of a constant). `@comment` and
`@attribute` nodes are looked for above a definition; attributes at its start are left out of its signature.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module, resources
from importlib.util import find_spec
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from codesearch.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from tree_sitter import Language, Query


@dataclass(frozen=True, slots=True)
class LanguageSpec:
    """How one language is recognised and parsed.

    Attributes:
        name: what `--lang` takes.
        extensions: lower-case suffixes, with the dot.
        grammar: the wheel's module; its distribution has dashes for underscores.
        factory: the function of that module that returns the grammar.
        separator: what joins the parts of a qualified name.
        interpreters: names on a `#!` line, for files without a suffix.
        query: stem of the query file when it is not `name`.
        trailing_comment: for indented languages, what begins a comment, so that comments below a
            definition's last statement are not taken for a part of it.
    """

    name: str
    extensions: tuple[str, ...]
    grammar: str
    factory: str = "language"
    separator: str = "."
    interpreters: tuple[str, ...] = ()
    query: str = ""
    trailing_comment: str = ""

    @property
    def distribution(self) -> str:
        """Name of the wheel that holds the grammar."""
        return self.grammar.replace("_", "-")


LANGUAGES = (
    LanguageSpec("go", (".go",), "tree_sitter_go"),
    LanguageSpec("java", (".java",), "tree_sitter_java"),
    LanguageSpec(
        "javascript", (".js", ".jsx", ".mjs", ".cjs"), "tree_sitter_javascript", interpreters=("node",)
    ),
    LanguageSpec(
        "php",
        (".php", ".phtml", ".inc"),
        "tree_sitter_php",
        "language_php",
        separator="::",
        interpreters=("php",),
    ),
    LanguageSpec(
        "python",
        (".py", ".pyi", ".pyw"),
        "tree_sitter_python",
        interpreters=("python",),
        trailing_comment="#",
    ),
    LanguageSpec("ruby", (".rb", ".rake", ".gemspec"), "tree_sitter_ruby", interpreters=("ruby",)),
    LanguageSpec(
        "bash",
        (".sh", ".bash", ".ksh"),
        "tree_sitter_bash",
        separator="::",
        interpreters=("bash", "sh", "dash", "ksh"),
    ),
    LanguageSpec("c", (".c", ".h"), "tree_sitter_c"),
    LanguageSpec(
        "cpp",
        (".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".inl", ".tpp"),
        "tree_sitter_cpp",
        separator="::",
    ),
    LanguageSpec("csharp", (".cs", ".csx"), "tree_sitter_c_sharp"),
    LanguageSpec("kotlin", (".kt", ".kts"), "tree_sitter_kotlin"),
    LanguageSpec("lua", (".lua",), "tree_sitter_lua", interpreters=("lua", "luajit")),
    LanguageSpec("rust", (".rs",), "tree_sitter_rust", separator="::"),
    LanguageSpec("scala", (".scala", ".sc"), "tree_sitter_scala", interpreters=("scala",)),
    LanguageSpec("swift", (".swift",), "tree_sitter_swift", interpreters=("swift",)),
    LanguageSpec("tsx", (".tsx",), "tree_sitter_typescript", "language_tsx", query="typescript"),
    LanguageSpec(
        "typescript",
        (".ts", ".mts", ".cts"),
        "tree_sitter_typescript",
        "language_typescript",
        interpreters=("deno", "bun", "ts-node"),
    ),
)

_CPP_ONLY = re.compile(
    rb"^[ \t]*(?:class\s+\w|namespace\b|template\s*<|(?:public|private|protected)\s*:)", re.MULTILINE
)
_SHORT_NAMES = {"c#": "csharp", "c++": "cpp", "golang": "go", "shell": "bash", "typescriptreact": "tsx"}
_BY_NAME = {spec.name: spec for spec in LANGUAGES}
_BY_EXTENSION = {extension: spec for spec in LANGUAGES for extension in spec.extensions}
_BY_INTERPRETER = {interpreter: spec for spec in LANGUAGES for interpreter in spec.interpreters}


def language_named(name: str) -> LanguageSpec | None:
    """Return the entry called `name`, or None."""
    return _BY_NAME.get(name)


def language_name(text: str) -> str:
    """Return the name of the language that a user means by a name, a usual short name or an extension.

    >>> language_name("py"), language_name("C++"), language_name(".ts"), language_name("golang")
    ('python', 'cpp', 'typescript', 'go')

    Raises:
        ConfigError: no language has that name.
    """
    wanted = text.strip().lower()
    if wanted in _BY_NAME:
        return wanted
    if wanted in _SHORT_NAMES:
        return _SHORT_NAMES[wanted]
    spec = _BY_EXTENSION.get(f".{wanted.removeprefix('.')}") or _BY_INTERPRETER.get(wanted)
    if spec is None:
        from difflib import get_close_matches

        near = get_close_matches(wanted, [*_BY_NAME, *_SHORT_NAMES], 1)
        cure = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(_BY_NAME)}"
        raise ConfigError(f"language {text!r}: {cure}")
    return spec.name


def distributions(languages: Iterable[str]) -> list[str]:
    """Return the packages that hold the grammars of some languages, each once."""
    return list(dict.fromkeys(_BY_NAME[language].distribution for language in languages))


def language_of_path(path: str) -> LanguageSpec | None:
    """Return the language that a file's suffix tells, or None."""
    return _BY_EXTENSION.get(PurePosixPath(path).suffix.lower())


def language_of_shebang(first_line: bytes) -> LanguageSpec | None:
    """Return the language that a `#!` line names, or None."""
    if not first_line.startswith(b"#!"):
        return None
    for word in first_line[2:].decode("ascii", "ignore").replace("/", " ").split():
        if spec := _BY_INTERPRETER.get(word.rstrip("0123456789.")):
            return spec
    return None


def language_of_source(spec: LanguageSpec, path: str, source: bytes) -> LanguageSpec:
    """Return C++ for a `.h` file that C could not hold, else `spec`."""
    cpp = _BY_NAME["cpp"]
    if path.endswith(".h") and spec.name == "c" and _CPP_ONLY.search(source) and is_installed(cpp):
        return cpp
    return spec


@cache
def is_installed(spec: LanguageSpec) -> bool:
    """Say whether the grammar's wheel is there."""
    return find_spec(spec.grammar) is not None


@cache
def load_grammar(spec: LanguageSpec) -> Language:
    """Load the grammar, once a process.

    Raises:
        MissingExtraError: the wheel is not installed.
    """
    from tree_sitter import Language

    try:
        module = import_module(spec.grammar)
    except ModuleNotFoundError:
        raise MissingExtraError(spec.distribution) from None
    return Language(getattr(module, spec.factory)())


@cache
def load_query(spec: LanguageSpec) -> Query:
    """Compile the language's query file, once a process."""
    from tree_sitter import Query

    return Query(load_grammar(spec), query_source(spec))


def query_source(spec: LanguageSpec) -> str:
    """Read the language's query file."""
    name = f"{spec.query or spec.name}.scm"
    return resources.files("codesearch.parsing").joinpath("queries", name).read_text("utf-8")


def grammar_version(spec: LanguageSpec) -> str:
    """Return the version of the installed grammar, or "" when it is absent."""
    found = find_spec(spec.grammar)
    if found is None or found.origin is None:
        return ""
    # Every command asks, and `importlib.metadata` alone takes 25 ms to import, so folder names answer.
    prefix, ending = f"{spec.grammar}-", ".dist-info"
    for name in _installed(os.path.dirname(os.path.dirname(found.origin))):
        if name.startswith(prefix) and name.endswith(ending):
            return name.removeprefix(prefix).removesuffix(ending)
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(spec.distribution)
    except PackageNotFoundError:
        return ""


@cache
def _installed(site_packages: str) -> list[str]:
    return sorted(os.listdir(site_packages))
