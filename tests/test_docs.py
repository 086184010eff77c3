"""The documentation agrees with the commands, the settings and the benchmarks."""

import json
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest

from benchmarks import (
    agents,
    bench_tables,
    commands,
    commits,
    duplicates,
    embedding,
    growth,
    lsp,
    milvus,
    revisions,
    service,
    speed,
    suite,
    update,
    watch,
)
from codesearch.cli.main import make_command
from codesearch.engine.scope import Scope
from codesearch.evaluation.suites import SUITES
from codesearch.languages import language_name, query_source
from codesearch.languages.records import BLOCK_LANGUAGES, LANGUAGES
from codesearch.options import PROJECT
from codesearch.search.request import SearchRequest
from codesearch.settings import SETTINGS
from codesearch.types import KINDS, Hit
from tests.command import Command
from tests.conftest import TINY_REPO, write_tree
from training.commands import Suite as EncoderSuite
from training.config import shipped_configs

ROOT = Path(__file__).parent.parent
PROGRAMS = ("$ codesearch ",)
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs/dev").glob("*.md")),
]


def examples(page: Path) -> list[str]:
    blocks = re.findall(r"^```console\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith(PROGRAMS)]


def test_the_reference_has_the_commands_with_their_options():
    page = (ROOT / "docs/cli.md").read_text("utf-8")
    assert f"<!-- commands -->\n{commands.reference()}\n<!-- /commands -->" in page, (
        "run `python -m benchmarks.commands`"
    )
    index = page.split("<!-- commands -->")[0]
    assert sorted(re.findall(r"\[`(\w+)`\]\(#\1\)[,\s]", index)) == sorted(make_command().commands)


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.name)
def test_every_example_runs(page, tmp_path):
    commands = examples(page)
    write_tree(tmp_path / "src", TINY_REPO)
    run = Command(tmp_path / "src", tmp_path / "home", {"HOME": str(tmp_path), "XDG_DATA_HOME": ""})
    run.succeeds("index", ".")
    for command in commands:
        program, *words = (
            word.replace("~", str(tmp_path), 1) if word.startswith("~") else word
            for word in shlex.split(command)
        )
        if program == "codesearch":
            finished = run(*words)
        else:
            line = [sys.executable, "-m", program.replace("-", "_"), *words]
            finished = subprocess.run(
                line, cwd=run.folder, env=run.environment, capture_output=True, text=True
            )
        may_be_1 = {"query", "usages", "duplicates"} & set(words)
        assert finished.returncode in ((0, 1) if may_be_1 else (0,)), (command, finished.stderr)


def test_the_plugin_of_claude_code_serves_every_language_with_a_parser():
    server = json.loads((ROOT / "docs/claude-code/.lsp.json").read_text("utf-8"))["codesearch"]
    assert [server["command"], *server["args"]] == ["codesearch", "lsp"]
    assert server["extensionToLanguage"].keys() == {ending for one in LANGUAGES for ending in one.extensions}


def anchors(page: Path) -> set[str]:
    """Return the names of the headings of a page, as links to them are written."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = [
        re.sub(r"[^\w\- ]", "", title.strip().lower()) for title in re.findall(r"^#+ (.*)$", text, re.M)
    ]
    return {heading.replace(" ", "-") for heading in headings}


def test_every_relative_link_leads_to_a_page_and_a_heading():
    broken = []
    for page in [*PAGES, ROOT / "SECURITY.md", ROOT / "CHANGELOG.md", *(ROOT / "docs/dev/adr").glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)]+)", page.read_text("utf-8")):
            path, _, heading = target.partition("#")
            linked = page.parent / path if path else page
            if not linked.exists() or (heading and heading not in anchors(linked)):
                broken.append(f"{page.name}: {target}")
    assert broken == []


def test_every_result_of_a_benchmark_is_named_by_a_page():
    pages = "\n".join(page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md"))
    results = (ROOT / "benchmarks/results").iterdir()
    assert [path.name for path in results if f"benchmarks/results/{path.name})" not in pages] == []


def test_the_names_and_files_in_the_lists_for_contributors_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    folders = ("codesearch", "training", "exporters", "benchmarks", "tests")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    words = set(re.findall(r"\w+", "\n".join(path.read_text("utf-8") for path in files)))
    told = set(re.findall(r"`([A-Za-z_]\w*)`", text))
    assert sorted(told - words) == [], "no code has these names of CONTRIBUTING.md"
    paths = [path for path in re.findall(r"`([\w./]+/[\w./]+)`", text) if path.startswith(folders)]
    assert [path for path in paths if "NAME" not in path and not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    "page", [*(ROOT / "docs").glob("*.md"), ROOT / "docs/dev/reliability.md"], ids=lambda page: page.stem
)
def test_every_option_that_a_page_names_exists(page):
    known = {
        name
        for command in make_command().commands.values()
        for one in command.params
        for name in (*one.opts, *one.secondary_opts)
    }
    assert sorted(set(re.findall(r"`(--[a-z-]+)", page.read_text("utf-8"))) - known) == []


def module_commands() -> list[tuple[str, ...]]:
    """List `python -m training` and `python -m exporters` as the pages write them: words and options, no values."""
    text = "\n".join(page.read_text("utf-8") for page in PAGES).replace("\\\n", " ")
    lines = re.findall(r"python -m ((?:training|exporters) [^\n`#]*)", text)
    found = {tuple(re.findall(r"(?:^| )(--[a-z-]+|[a-z]+)(?= |$)", line.strip())) for line in lines}
    return sorted(found)


@pytest.mark.parametrize("words", module_commands(), ids=" ".join)
def test_the_commands_of_training_and_exporters_exist(words, capsys):
    module, *rest = words
    steps = 2 if module == "training" and rest[0] == "corpus" else 1
    main = import_module(f"{module}.__main__").main
    with pytest.raises(SystemExit) as stopped:
        main([*rest[:steps], "--help"])
    assert stopped.value.code == 0
    known = capsys.readouterr().out
    assert [option for option in rest if option.startswith("--") and f"{option} " not in known] == []


def test_the_readme_has_the_figures_of_the_benchmark():
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    systems = results("bench_csn99")["systems"]
    figures = [f"{systems[name]['ndcg_all']['average']:.3f}"[1:] for name in ("default", "bm25")]
    assert "NDCG is {}; keywords alone (BM25) reach {}.".format(*figures) in readme
    systems = results("bench_applications_end")["systems"]
    figures = [f"{systems[name]['recall_at_10']['average']:.0%}" for name in ("default", "bm25")]
    assert "for {} (keywords alone: {})".format(*figures) in readme


def test_the_pages_say_in_how_many_languages_semble_is_better():
    rows = [row.strip("| ").split(" | ") for row in bench_tables.beside_semble().splitlines()[2:-1]]
    worse = sum(float(ours) < float(theirs) for _, ours, theirs in rows)
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    assert f"in {len(rows) - worse} of {len(rows)} languages, and worse in {worse}" in readme
    assert f"in {worse} of {len(rows)} languages" in (ROOT / "docs/dev/bench.md").read_text("utf-8")


MEASURED_TABLES = {
    ("../README", "quality"): bench_tables.beside_semble,
    ("../README", "speed"): lambda: speed.short_table(results("speed")["standard_library"]),
    ("dev/bench-commands", "read"): lambda: agents.table(results("agent_tasks")),
    ("dev/bench-commands", "commits"): lambda: commits.table(results("commits")["rows"]),
    ("dev/scale", "build"): lambda: growth.build_table(results("growth")["growth"]),
    ("dev/scale", "query"): lambda: growth.query_table(results("growth")["growth"]),
    ("dev/scale", "plan"): lambda: milvus.plan_table(
        results("growth")["growth"][-1]["exact"], results("milvus")["bytes_per_document"]
    ),
    ("dev/scale", "milvus"): lambda: milvus.table(results("milvus")),
    ("dev/bench-commands", "lsp"): lambda: lsp.table(results("lsp")["rows"]),
    ("duplicates", "duplicates"): lambda: duplicates.table(results("duplicates")),
    ("dev/bench-commands", "revisions"): lambda: revisions.table(results("revisions")["rows"]),
    ("dev/speed", "embedding"): lambda: embedding.table(results("embedding")["models"]),
    ("dev/speed", "service"): lambda: service.table(results("service")),
    ("dev/speed", "speed"): lambda: speed.table(results("speed")["standard_library"]),
    ("dev/speed", "update"): lambda: update.table(results("update")["rows"]),
    ("dev/bench-commands", "watch"): lambda: watch.table(results("watch")),
}


def results(name: str) -> dict[str, Any]:
    """Return what a benchmark measured."""
    found: dict[str, Any] = json.loads((ROOT / f"benchmarks/results/{name}.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize(("page", "name"), MEASURED_TABLES)
def test_the_table_of_a_measurement_matches_its_json(page, name):
    text = (ROOT / f"docs/{page}.md").read_text("utf-8")
    assert f"<!-- {name} -->\n{MEASURED_TABLES[page, name]()}\n<!-- /{name} -->" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_page_has_too_many_words(page):
    text = re.sub(r"\]\([^)]*\)", "]", page.read_text("utf-8"))
    most = {"README": 900, "cli": 3_000}.get(page.stem, 2_000)
    assert len(re.findall(r"\w[\w'.,-]*", text)) <= most, "shorten it, or move a part to its own page"


def table_rows(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the table whose first column has this heading."""
    _, after = (ROOT / page).read_text("utf-8").split(f"\n| {heading} |", 1)
    lines = after.split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_the_page_of_languages_has_every_name_extension_and_interpreter():
    rows = table_rows("docs/languages.md", "language | `--lang`")
    page = (ROOT / "docs/languages.md").read_text("utf-8")
    interpreters = dict(
        re.findall(
            r"([A-Z]\w*) \(([^)]*)\)", " ".join(page.split("of its `#!` line:")[1].split("\n\n")[0].split())
        )
    )
    told = {}
    for title, names, extensions in rows:
        first, *others = re.findall(r"`([^`]+)`", names)
        assert [language_name(other) for other in others] == [first] * len(others)
        told[first] = (
            tuple(re.findall(r"`([^`]+)`", extensions)),
            tuple(re.findall(r"`([^`]+)`", interpreters.get(title, ""))),
        )
    known = {spec.name: ((*spec.extensions, *spec.file_names), spec.interpreters) for spec in LANGUAGES}
    assert told.keys() == known.keys(), "the first table of docs/languages.md has one row for each language"
    assert told == known


def test_the_page_of_languages_has_every_language_without_a_parser():
    page = (ROOT / "docs/languages.md").read_text("utf-8")
    part = page.split("\n## Without a parser\n")[1].split("\n## ")[0].split("\n\n")[1]
    told = {
        name: tuple(re.findall(r"`([^`]+)`", files))
        for name, files in re.findall(r"(\w+)\s\(([^)]+)\)", part)
    }
    known = {spec.name: (*spec.extensions, *spec.file_names) for spec in BLOCK_LANGUAGES}
    assert told == known, (
        "the list of languages without a parser in docs/languages.md has each of BLOCK_LANGUAGES"
    )


def test_the_page_of_languages_has_the_kinds_that_each_query_captures():
    told = {
        name: set(re.findall(r"`([^`]+)`", kinds))
        for name, kinds in table_rows("docs/languages.md", "language | also")
    }
    usual = {"function", "constant", "module", "method"}
    specs = {spec.name: spec for spec in LANGUAGES}
    for title, names, *_ in table_rows("docs/languages.md", "language | `--lang`"):
        spec = specs[re.findall(r"`([^`]+)`", names)[0]]
        source = query_source(spec.query or spec.name)
        row = next(row for row in told if title in re.split(", | and ", row))
        assert told[row] - usual == set(re.findall(r"@(\w+)", source)) & set(KINDS) - usual, title


@pytest.mark.parametrize("name", [*SUITES, *suite.SUITES])
def test_every_suite_is_documented(name):
    pages = [(ROOT / f"docs/dev/{page}.md").read_text("utf-8") for page in ("bench", "bench-repositories")]
    assert f"`{name}`" in pages[0], "describe it in docs/dev/bench.md"
    told = f"(`{name}`)\n", f"python -m benchmarks.suite {name} --data"
    assert name in SUITES or any(words in page for page in pages for words in told)


@pytest.mark.parametrize("name", get_args(EncoderSuite))
def test_every_suite_of_encoders_is_documented(name):
    page = "docs/dev/codesearchnet.md"
    assert f"`{name}`" in (ROOT / page).read_text("utf-8"), f"describe it in {page}"


def test_the_pages_of_encoders_have_every_encoder_that_can_be_trained():
    rows = [
        row
        for page in ("encoder", "codesearchnet")
        for row in table_rows(f"docs/dev/{page}.md", "`--encoder`")
    ]
    assert sorted(row[0].strip("`") for row in rows) == shipped_configs()


def test_the_list_of_decisions_has_every_record():
    folder = ROOT / "docs/dev/adr"
    links = re.findall(r"^\| \[\d+\]\((.*?)\) \|", (folder / "README.md").read_text("utf-8"), re.M)
    assert links == sorted(path.name for path in folder.glob("[0-9]*.md"))


@pytest.mark.parametrize(("page", "record"), [("output", Hit), ("python", SearchRequest), ("python", Scope)])
def test_the_page_has_each_field_of_a_record(page, record):
    text = (ROOT / f"docs/{page}.md").read_text("utf-8")
    assert [field.name for field in fields(record) if f"`{field.name}`" not in text] == [], (
        f"add to docs/{page}.md"
    )


@pytest.mark.parametrize("name", SETTINGS)
def test_the_page_of_settings_has_each_setting_with_its_default(name):
    rows = [
        row
        for head in ("setting | default | option", "setting | default | option of `index`")
        for row in table_rows("docs/configuration.md", head)
    ]
    defaults = {row[0].strip("`"): row[1].strip("`") for row in rows}
    default = SETTINGS[name].default
    shown = "" if default is None else list(default) if isinstance(default, tuple) else default
    assert json.loads(defaults[name]) == shown
    may = {row[0].strip("`"): row[3] for row in rows}
    assert (may[name] != "no") == (PROJECT in SETTINGS[name].opt.set_by)
    assert (may[name] not in ("yes", "no", "choose")) == (
        SETTINGS[name].opt.narrow is not None and PROJECT in SETTINGS[name].opt.set_by
    )


def test_the_picture_of_the_readme_needs_nothing_from_outside():
    picture = (ROOT / "docs/query.svg").read_text("utf-8")
    assert re.findall(r"@font-face|url\((?!#)|href=", picture) == []
    assert "codesearch&#160;query" in picture


def test_the_workflow_runs_the_commands_of_make_check():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    workflow = (ROOT / ".github/workflows/check.yml").read_text("utf-8")
    extras = re.findall(r"installed-check: .*\n\t\$\(INSTALL\) (-e \S+)", makefile)
    lines = re.findall(
        r"^\t\$\(BIN\)/(.*)", makefile.partition("\ncheck-lint:")[2].partition("\ntest:")[0], re.MULTILINE
    )
    assert (len(extras), len(lines)) == (1, 4)
    assert [line for line in (*extras, *lines) if line not in workflow] == []
