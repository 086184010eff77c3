"""`codesearch index --content`: documentation and configuration in addition to code."""

import json
from pathlib import Path

import pytest

from tests.command import Command
from tests.conftest import write_tree

GUIDE = "# Stack\n\nPush an item on top.\n\n## Capacity\n\nThe stack holds ten items.\n"
SETTINGS = "[stack]\ncapacity = 10\nitems = 'any'\n"


@pytest.fixture
def tree(tiny_repo: Path) -> Path:
    return write_tree(tiny_repo, {"docs/stack.md": GUIDE, "stack.toml": SETTINGS})


@pytest.fixture
def index(command: Command, tree: Path, tiny_bundle: Path):
    return lambda *options: command.succeeds("index", tree.name, "--model", tiny_bundle, *options)


@pytest.fixture
def found(command: Command):
    """Search with keywords alone; return what `--vimgrep` prints."""

    def search(*words: str) -> list[str]:
        done = command("query", "--all", *words, "--vimgrep", "--mode", "lexical")
        assert done.returncode in (0, 1), done.stderr
        return done.stdout.splitlines()

    return search


def test_only_code_is_indexed_unless_asked(index, found):
    assert index().startswith("tiny: 13 documents from 6 files")
    assert found("capacity") == []


def test_documentation_and_configuration_are_found_by_their_sections(index, found, command):
    index("--content", "all")
    (entry,) = json.loads(command("status", "--json").stdout)
    assert (entry["languages"]["markdown"], entry["languages"]["toml"], entry["documents"]) == (2, 1, 16)
    assert found("stack", "capacity")[:2] == [
        "tiny/docs/stack.md:5:1:## Capacity",
        "tiny/stack.toml:1:1:[stack]",
    ]
    assert found("stack", "--kind", "section") == [
        "tiny/docs/stack.md:1:1:# Stack",
        "tiny/docs/stack.md:5:1:## Capacity",
    ]
    assert found("stack", "--lang", "toml") == ["tiny/stack.toml:1:1:[stack]"]


def test_content_is_remembered_until_it_is_changed(index, found, command, tree):
    index("--content", "docs")
    write_tree(tree, {"more.md": "# Queue capacity\n\nNone.\n"})
    assert "1 parsed, 7 unchanged, 0 removed" in index()
    assert "options    content docs" in command("status").stdout
    assert found("capacity") == ["tiny/docs/stack.md:5:1:## Capacity", "tiny/more.md:1:1:# Queue capacity"]
    assert "1 parsed, 6 unchanged, 2 removed" in index("--content", "config")
    assert found("capacity") == ["tiny/stack.toml:1:1:[stack]"]
    assert "0 parsed, 6 unchanged, 1 removed" in index("--content", "code")
    assert found("capacity") == []
    (entry,) = json.loads(command("status", "--json").stdout)
    assert entry["not_indexed"] == {"other content": {".md": 2, ".toml": 1}}


def test_a_project_can_set_content(index, found, tree):
    write_tree(tree, {".codesearch.toml": 'content = "docs"\n'})
    index()
    assert found("capacity") == ["tiny/docs/stack.md:5:1:## Capacity"]


def test_a_query_finds_documentation_written_after_indexing(index, found, tree):
    index("--content", "docs")
    (tree / "docs" / "stack.md").write_text(
        GUIDE.replace("## Capacity", "## Sizes\n\nUnlimited.\n\n## Capacity")
    )
    assert found("unlimited", "sizes")[0] == "tiny/docs/stack.md:5:1:## Sizes"


def test_strange_texts_cost_a_warning_at_most_and_secrets_are_not_read(command, index, tree, found):
    write_tree(
        tree,
        {
            ".env": "PASSWORD=swordfish\n",
            ".env.example": "PASSWORD=\n",
            "secrets.yml": "password: swordfish\n",
            "package-lock.json": '{"password": "swordfish"}\n',
            "line.json": '{"a": "' + "x" * 1_000_000 + '"}',
            "list.json": "[1, 2]\n",
            "empty.md": "",
            "heading.md": "# " + "word " * 2_000 + "\n" + "\nSome words.\n" * 20,
            "deep.md": "".join(f"{'#' * (1 + level % 6)} Level {level}\nwords\n" for level in range(5_000)),
            "requirements.txt": "pytest>=8\n",
        },
    )
    (tree / "README").write_bytes(b"Caf\x81 of many words.\n")
    done = command("index", tree.name, "--content", "all", "--hidden")
    warning = "README: invalid UTF-8 at byte 3: read with replacement characters"
    assert (done.returncode, done.stderr) == (0, f"warning: {warning}\n")
    (entry,) = json.loads(command("status", "--json").stdout)
    assert entry["not_indexed"] == {
        "data": {".json": 1, ".txt": 1},
        "minified": {".json": 1},
        "never": {"": 1, ".json": 1, ".yml": 1},
    }
    assert found("swordfish") == []
    assert found("password", "--kind", "setting") == ["tiny/.env.example:1:1:PASSWORD="]
    assert entry["languages"]["markdown"] == 5_003
