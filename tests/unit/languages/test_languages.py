"""The language of a file by its name."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from codesearch.config import CONTENT, IndexOptions
from codesearch.errors import ConfigError
from codesearch.languages import (
    is_installed,
    language_name,
    language_named,
    language_of_path,
    language_of_source,
    record_of,
)
from codesearch.languages.records import BLOCK_LANGUAGES, LANGUAGES, TEXT_LANGUAGES

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("language", "names"),
    {
        "markdown": "README.md docs/Guide.MARKDOWN page.mdx docs/secrets.md",
        "rst": "index.rst",
        "text": "README CHANGES notes.txt",
        "toml": "pyproject.toml Pipfile",
        "yaml": ".github/workflows/test.yml compose.yaml config.yml.dist",
        "json": "package.json tsconfig.jsonc",
        "ini": "setup.cfg tox.ini log4j.properties",
        "dockerfile": "Dockerfile Dockerfile.dev web.dockerfile",
        "makefile": "Makefile Makefile.am rules.mk",
        "dotenv": ".env.example .env.sample env.template",
    }.items(),
)
def test_names_of_documentation_and_configuration(language, names):
    for name in names.split():
        found = language_of_path(name, "all")
        is_text = language in ("markdown", "rst", "text")
        assert (found.name, found.content in CONTENT["docs"]) == (language, is_text), name
        assert language_of_path(name) is None


@pytest.mark.parametrize(
    "name",
    (
        ".env .env.local .env.production prod.env env .envrc secrets.yaml credentials.json "
        "package-lock.json npm-shrinkwrap.json pnpm-lock.yaml poetry.lock Pipfile.lock "
        "data.min.json LICENSE LICENCE.txt license.md COPYING NOTICE.txt go.sum logo.PNG "
        "server.pem id_rsa data.min.css.map"
    ).split(),
)
def test_names_that_are_neither_documentation_nor_configuration(name):
    assert language_of_path(name, "all") is None


def test_code_is_code_with_any_content_setting():
    for content in CONTENT:
        assert language_of_path("env.py", content).name == "python"


def test_texts_need_no_grammar_and_have_short_names_too():
    assert not any(spec.grammar or is_installed(spec) for spec in (*TEXT_LANGUAGES, *BLOCK_LANGUAGES))
    assert [
        language_name(name) for name in ("md", ".yml", "Markdown", "toml")
    ] == "markdown yaml markdown toml".split()


def test_each_name_ending_and_interpreter_belongs_to_one_language():
    specs = (*LANGUAGES, *BLOCK_LANGUAGES)
    for kind in ("extensions", "file_names", "interpreters"):
        told = Counter(one for spec in specs for one in getattr(spec, kind))
        assert [one for one, count in told.items() if count > 1] == [], "take it out of BLOCK_LANGUAGES"
    assert len({spec.name for spec in specs}) == len(specs)


@pytest.mark.parametrize("spec", [*LANGUAGES, *BLOCK_LANGUAGES, *TEXT_LANGUAGES], ids=lambda spec: spec.name)
def test_the_patterns_of_a_record_are_patterns(spec):
    for pattern in (spec.comments.line, spec.strings, spec.sigil, spec.section):
        re.compile(pattern)
    groups = set(re.compile(spec.block).groupindex)
    assert groups <= {"function", "class"}, "a line opens one of these"
    assert bool(groups) == bool(spec.block)
    assert record_of(spec.family or spec.name).family == spec.family, (
        "a family has the name of its first language"
    )


def test_unknown_content_is_an_error():
    with pytest.raises(ConfigError, match="^content 'prose': choose one of code, docs, config, all$"):
        IndexOptions(content="prose")


@pytest.mark.parametrize("name", ["klingon", "1c"])
def test_for_a_language_that_is_not_like_any_other_all_are_listed(name):
    with pytest.raises(
        ConfigError,
        match=f"^unknown language '{name}': choose one of go, java, .*, vue or of docs/languages.md$",
    ):
        language_name(name)


def test_every_grammar_is_a_dependency_with_a_pinned_version():
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    required = {Requirement(dependency).name for dependency in dependencies}
    pinned = {line.partition("==")[0] for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()}
    grammars = {spec.distribution for spec in LANGUAGES}
    assert grammars - required == set(), "add them to pyproject.toml"
    assert grammars - pinned == set(), "add them to constraints.txt"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("struct Derived : Base { int x; };", "cpp"),
        ("enum class Mode { FAST };", "cpp"),
        ("using Size = unsigned;", "cpp"),
        ("using namespace std;", "cpp"),
        ("inline P operator+(P a, P b) { return a; }", "cpp"),
        ("bool operator()(int a) const;", "cpp"),
        ("struct P { P() = default; };", "cpp"),
        ("inline bool g(int a) { return static_cast<bool>(a); }", "cpp"),
        ("std::vector<int> all();", "cpp"),
        ("struct V { virtual void draw(int a) const = 0; };", "cpp"),
        ("/* virtual memory (of a page) */ int page;", "c"),
        ("struct Bits { int low : 3; };", "c"),
        ("int operator(int a);", "c"),
        ("/* An operator + in a comment. */\n// bool operator==\n * operator +\nenum mode { FAST };", "c"),
    ],
)
def test_a_header_with_code_of_cpp_is_cpp(source, name):
    assert language_of_source(language_named("c"), "a.h", source.encode()).name == name


@pytest.mark.parametrize(
    ("path", "source", "name"),
    [
        ("a.inc", "<?php function f() {}", "php"),
        ("a.inc", "#include <x.h>\nint f(void) { return 1; }", "c"),
        ("a.inc", "#ifndef A\nstd::vector<int> all();\n#endif", "cpp"),
        ("a.install", "post_install() {\n  echo done\n}\n", "other"),
        ("a.php", "<p>text</p>", "template"),
        ("a.C", "class A {\n};", "cpp"),
    ],
)
def test_an_extension_of_several_languages_is_decided_by_the_content(path, source, name):
    assert language_of_source(language_of_path(path), path, source.encode()).name == name
