"""What codesearch writes into a file can be taken out again, and the rest stays as it was, byte for byte."""

from __future__ import annotations

import json

import pytest

from codesearch.agents.clients import CLIENTS, configuration, entry_of, instruction_file, without_entry
from codesearch.agents.edits import (
    BEGIN,
    END,
    backups,
    read_text,
    with_paragraph,
    without_paragraph,
    write_text,
)
from codesearch.errors import ConfigError

PARAGRAPH = "## Code search\n\nAsk it.\n"


@pytest.mark.parametrize("old", ["", "# Rules\n", "# Rules", "# Rules\n\n\n", "a\r\nb\r\n", "a\r\nb", "\n"])
def test_a_paragraph_is_added_once_replaced_and_taken_out(old, tmp_path):
    new = with_paragraph(old, PARAGRAPH, tmp_path)
    assert new.startswith(old) and new.count("Ask it.") == new.count(BEGIN) == 1
    assert with_paragraph(new, PARAGRAPH, tmp_path) == new
    assert with_paragraph(new, "other\n", tmp_path) == with_paragraph(old, "other\n", tmp_path)
    assert without_paragraph(new, tmp_path) == old
    assert without_paragraph(old, tmp_path) == old


def test_what_was_written_after_a_paragraph_stays(tmp_path):
    new = with_paragraph("a\n", PARAGRAPH, tmp_path) + "\n## More\n"
    assert without_paragraph(new, tmp_path) == "a\n\n## More\n"


@pytest.mark.parametrize(
    "text", [BEGIN, END, f"{END}\n{BEGIN}", f"{BEGIN}{BEGIN}{END}", f"{BEGIN}{END}{END}"]
)
def test_markers_that_are_no_pair_are_an_error(text, tmp_path):
    for edit in (
        lambda: with_paragraph(text, PARAGRAPH, tmp_path),
        lambda: without_paragraph(text, tmp_path),
    ):
        with pytest.raises(ConfigError, match="by hand"):
            edit()


@pytest.mark.parametrize("name", CLIENTS)
def test_the_entry_of_each_client_can_be_taken_out(name, tmp_path):
    client = CLIENTS[name]
    if client.is_toml:
        table = client.keys[0]
        old = f'# kept\na = [\n  1,\n]\n\n[{table}.other]\ncommand = "x"\n'
    else:
        nested: dict = {"other": {"command": "x"}}
        for key in reversed(client.keys):
            nested = {"z": 1, key: nested}
        old = json.dumps(nested, indent=2) + "\n"
    new = configuration(client, entry_of(client, ("--group", "a group")), old)
    assert new != old
    assert without_entry(client, new, tmp_path) == old
    assert without_entry(client, old, tmp_path) == old
    assert without_entry(client, "", tmp_path) == ""


ENTRY = '"codesearch": {"command": "/bin/codesearch", "args": ["mcp"]}'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{"mcpServers": {%s}}', ""),
        ('{"a": 1,\n"mcpServers": {\n\t%s\n}\n}', '{"a": 1\n}'),
        ('{"mcpServers" :{%s ,  "b":[{ }]}, "c": 1.0}\r\n', '{"mcpServers" :{"b":[{ }]}, "c": 1.0}\r\n'),
        (
            '{"c": "{,}", "mcpServers": {"a": {"x":1e3} , %s }}',
            '{"c": "{,}", "mcpServers": {"a": {"x":1e3}  }}',
        ),
        ('{"mcpServers": {"a": "\\u00fc", %s, "b": 2}}', '{"mcpServers": {"a": "\\u00fc", "b": 2}}'),
    ],
)
def test_json_keeps_its_formatting(old, new, tmp_path):
    assert without_entry(CLIENTS["cursor"], old.replace("%s", ENTRY), tmp_path) == new


def test_toml_keeps_its_formatting_and_comments(tmp_path):
    entry = '\n[mcp_servers.codesearch]\ncommand = "codesearch"\nargs = ["mcp"]\n'
    more = '\n[mcp_servers.codesearch.env]\nA = "1"\n'
    before, after = "# one\nb   =  1 # two\n", "\n# three\n[c]\nd = [\n]\n"
    assert without_entry(CLIENTS["codex"], before + entry + more + after, tmp_path) == before + after


def test_an_entry_of_somebody_else_or_in_another_form_is_not_touched(tmp_path):
    theirs = '{"mcpServers": {"codesearch": {"command": "other", "args": ["serve"]}}}'
    assert without_entry(CLIENTS["cursor"], theirs, tmp_path) == theirs
    inline = 'mcp_servers = {codesearch = {command = "codesearch", args = ["mcp"]}}\n'
    with pytest.raises(ConfigError, match="remove it by hand"):
        without_entry(CLIENTS["codex"], inline, tmp_path)


def test_only_backups_that_codesearch_made_are_found(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("1")
    made = [write_text(path, "2"), write_text(path, "3")]
    (tmp_path / "a.json.1.bak").touch()
    (tmp_path / "b.json.codesearch-1.bak").touch()
    (tmp_path / "a.json.codesearch-9.bak").symlink_to(path)
    assert backups(path) == made
    assert [one.read_text() for one in backups(path)] == ["1", "2"]


def test_an_instruction_file_may_be_a_link_inside_of_the_project_only(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "AGENTS.md").touch()
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    (project / "GEMINI.md").symlink_to(tmp_path / "other")
    (project / ".github").symlink_to(".github")
    assert instruction_file(CLIENTS["claude"], project) == project / "AGENTS.md"
    with pytest.raises(ConfigError, match="leads out of the project"):
        instruction_file(CLIENTS["gemini"], project)
    with pytest.raises(ConfigError, match="nothing was written"):
        read_text(instruction_file(CLIENTS["vscode"], project))
    assert instruction_file(CLIENTS["zed"], project) is instruction_file(CLIENTS["claude"], None) is None
