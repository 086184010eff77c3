"""The tables of languages: one entry and one file in `queries/` add a programming language.

Documentation and configuration have a table of their own. They need no grammar: `codesearch.parsing.sections` cuts them
into sections by their lines.

A query file captures the node of each definition as a kind of `codesearch.types.KINDS`, as `@anonymous` (a callback;
short ones are left out), as `@scope` (no document, but its name qualifies the definitions in it) or as `@owner` (a
scope whose functions are methods). It captures the `@name`, and if they exist the `@body`, the `@receiver` (a qualifier
that is a part of the definition itself), the `@docstring` and the `@table` (a collection that is the value of a
constant). `@comment` and `@attribute` nodes are expected above a definition. Attributes at its start are not part of
its signature.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module, resources
from importlib.util import find_spec
from typing import TYPE_CHECKING

from codesearch.config import CONTENT
from codesearch.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Query


@dataclass(frozen=True, slots=True)
class LanguageSpec:
    """How one language is recognised and parsed.

    Attributes:
        name: a value of `--lang`.
        extensions: lower-case suffixes, with the dot.
        grammar: the wheel's module; its distribution has dashes instead of underscores. "" for texts.
        factory: the function of that module that returns the grammar.
        separator: stands between the parts of a qualified name.
        interpreters: names on a `#!` line, for files without a suffix.
        query: stem of the query file if it is not `name`.
        trailing_comment: the comment mark of an indented language; comments below a definition's last statement are
            not a part of the definition.
        content: "code", "docs" or "config".
        file_names: names of files without one of the suffixes.
    """

    name: str
    extensions: tuple[str, ...]
    grammar: str = ""
    factory: str = "language"
    separator: str = "."
    interpreters: tuple[str, ...] = ()
    query: str = ""
    trailing_comment: str = ""
    content: str = "code"
    file_names: tuple[str, ...] = ()

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
    LanguageSpec("elixir", (".ex", ".exs"), "tree_sitter_elixir", interpreters=("elixir",)),
    LanguageSpec("haskell", (".hs",), "tree_sitter_haskell", interpreters=("runhaskell", "runghc")),
    LanguageSpec("kotlin", (".kt", ".kts"), "tree_sitter_kotlin"),
    LanguageSpec("lua", (".lua",), "tree_sitter_lua", interpreters=("lua", "luajit")),
    LanguageSpec("rust", (".rs",), "tree_sitter_rust", separator="::"),
    LanguageSpec("scala", (".scala", ".sc"), "tree_sitter_scala", interpreters=("scala",)),
    LanguageSpec("swift", (".swift",), "tree_sitter_swift", interpreters=("swift",)),
    LanguageSpec("zig", (".zig",), "tree_sitter_zig"),
    LanguageSpec("tsx", (".tsx",), "tree_sitter_typescript", "language_tsx", query="typescript"),
    LanguageSpec(
        "typescript",
        (".ts", ".mts", ".cts"),
        "tree_sitter_typescript",
        "language_typescript",
        interpreters=("deno", "bun", "ts-node"),
    ),
)

_docs = partial(LanguageSpec, content="docs", separator=" > ")
_config = partial(LanguageSpec, content="config")
_TEXT_NAMES = (
    "ARCHITECTURE CHANGELOG CHANGES CONTRIBUTING FAQ HACKING HISTORY INSTALL NEWS README TODO UPGRADING"
)
TEXT_LANGUAGES = (
    _docs("markdown", (".md", ".markdown", ".mdx")),
    _docs("rst", (".rst",)),
    _docs("text", (".txt",), file_names=tuple(_TEXT_NAMES.split())),
    _config("dockerfile", (".dockerfile",), file_names=("Dockerfile", "Containerfile")),
    _config("dotenv", (".env",), file_names=("env",)),
    _config("ini", (".ini", ".cfg", ".conf", ".properties")),
    _config("json", (".json", ".jsonc", ".json5")),
    _config("makefile", (".mk",), file_names=("Makefile", "makefile", "GNUmakefile")),
    _config("toml", (".toml",), file_names=("Pipfile",)),
    _config("yaml", (".yaml", ".yml")),
)
"""What `--content` adds. `.env.example` is read like `.env`, and so on."""
_LEFT_OUT = re.compile(
    r"""(?:^|[-_.])(?:lock|shrinkwrap)\.(?:json|ya?ml|toml)$        # package-lock.json, pnpm-lock.yaml
    | \.min\.json$ | ^CMakeLists\.txt$ | ^(?:licen[cs]e|copying|notice)\b
    | (?:^|\.)env$ | ^(?:secret|credential)s?\.(?!md|rst|txt)      # They hold passwords and keys.
    """,
    re.VERBOSE | re.IGNORECASE,
)
_EXAMPLES = (".example", ".sample", ".template", ".dist")
_CPP_ONLY = re.compile(
    rb"^[ \t]*(?:class\s+\w|namespace\b|template\s*<|(?:public|private|protected)\s*:)", re.MULTILINE
)
_SHORT_NAMES = {"c#": "csharp", "c++": "cpp", "golang": "go", "shell": "bash", "typescriptreact": "tsx"}
_SIMILAR = 0.8
"""How alike a name must be to be proposed. With less, "toml" is proposed for "html"."""
_BY_NAME = {spec.name: spec for spec in (*LANGUAGES, *TEXT_LANGUAGES)}
_BY_EXTENSION = {extension: spec for spec in LANGUAGES for extension in spec.extensions}
_TEXT_BY_ENDING = {ending: spec for spec in TEXT_LANGUAGES for ending in (*spec.extensions, *spec.file_names)}
_VARIANTS = {name: _TEXT_BY_ENDING[name] for name in ("Dockerfile", "Makefile")}
"""Names that may be followed by anything: `Dockerfile.dev`, `Makefile.am`."""
_BY_INTERPRETER = {interpreter: spec for spec in LANGUAGES for interpreter in spec.interpreters}


def language_named(name: str) -> LanguageSpec | None:
    """Return the entry called `name`, or None."""
    return _BY_NAME.get(name)


def language_name(text: str) -> str:
    """Return the name of the language with this name, usual short name or extension.

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
    suffix = f".{wanted.removeprefix('.')}"
    spec = _BY_EXTENSION.get(suffix) or _TEXT_BY_ENDING.get(suffix) or _BY_INTERPRETER.get(wanted)
    if spec is None:
        from difflib import get_close_matches

        near = get_close_matches(wanted, [*_BY_NAME, *_SHORT_NAMES], 1, _SIMILAR)
        cure = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(_BY_NAME)}"
        raise ConfigError(f"language {text!r}: {cure}")
    return spec.name


def distributions(languages: Iterable[str]) -> list[str]:
    """Return the packages that hold the grammars of some languages, each once."""
    return list(dict.fromkeys(_BY_NAME[language].distribution for language in languages))


def language_of_path(path: str, content: str = "code") -> LanguageSpec | None:
    """Return the language of a file by its name, or None.

    >>> language_of_path("docs/guide.md", "all").name, language_of_path("docs/guide.md")
    ('markdown', None)

    Args:
        path: the file's path; only the last part counts.
        content: a key of `codesearch.config.CONTENT`; files of other content have no language.
    """
    spec = _BY_EXTENSION.get(os.path.splitext(path)[1].lower())
    if spec is None and content != "code":
        spec = _text_language(path.rpartition("/")[2])
    return spec if spec and spec.content in CONTENT[content] else None


def _text_language(name: str) -> LanguageSpec | None:
    """Return the language of a file of documentation or configuration by its name."""
    stem, suffix = os.path.splitext(name)
    if suffix.lower() in _EXAMPLES:
        stem, suffix = os.path.splitext(stem)
    spec = _TEXT_BY_ENDING.get(suffix.lower() or stem) or _VARIANTS.get(stem.partition(".")[0])
    return None if spec is None or _LEFT_OUT.search(name) else spec


def language_of_shebang(first_line: bytes) -> LanguageSpec | None:
    """Return the language that a `#!` line names, or None."""
    if not first_line.startswith(b"#!"):
        return None
    for word in first_line[2:].decode("ascii", "ignore").replace("/", " ").split():
        if spec := _BY_INTERPRETER.get(word.rstrip("0123456789.")):
            return spec
    return None


def language_of_source(spec: LanguageSpec, path: str, source: bytes) -> LanguageSpec:
    """Return C++ for a `.h` file with C++ in it, else `spec`."""
    cpp = _BY_NAME["cpp"]
    if path.endswith(".h") and spec.name == "c" and _CPP_ONLY.search(source) and is_installed(cpp):
        return cpp
    return spec


@cache
def is_installed(spec: LanguageSpec) -> bool:
    """Say whether files of the language can be parsed: its grammar is installed, or it needs none."""
    return not spec.grammar or find_spec(spec.grammar) is not None


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
def load_parser(spec: LanguageSpec) -> Parser:
    """Make a parser of the language, once a process.

    Raises:
        MissingExtraError: the language's grammar is not installed.
    """
    from tree_sitter import Parser

    return Parser(load_grammar(spec))


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


@cache
def _installed(site_packages: str) -> list[str]:
    return sorted(os.listdir(site_packages))
