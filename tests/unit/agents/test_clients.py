"""Configurations of clients are merged without losing anything."""

import json
import tomllib

import pytest

from codesearch.agents.clients import CLIENTS, configuration, entry_of, hook_answer, parts_of, without_entry
from codesearch.errors import ConfigError


def table_of(config, client):
    for key in client.keys:
        config = config[key]
    return config


@pytest.mark.parametrize("name", CLIENTS)
def test_a_merge_keeps_other_settings_and_a_second_merge_changes_nothing(name, tmp_path):
    client, path = CLIENTS[name], tmp_path
    parse = tomllib.loads if client.file.endswith(".toml") else json.loads
    other: dict = {"command": "x", "args": ["ü"]}
    if client.file.endswith(".toml"):
        old = f'# kept\nmodel = "m"\n\n[{".".join(client.keys)}.other]\ncommand = "x"\nargs = ["ü"]'
    else:
        nested: dict = {"other": other}
        for key in reversed(client.keys):
            nested = {key: nested}
        old = json.dumps({"model": "m", **nested})
    new = configuration(client, ("--group", "a group"), old, path)
    config = parse(new)
    assert config["model"] == "m"
    entry = entry_of(client, ("--group", "a group"))
    assert table_of(config, client) == {"other": other, "codesearch": entry}
    assert configuration(client, ("--group", "a group"), new, path) == new
    assert parse(without_entry(client, new, path)) == parse(old)
    assert without_entry(client, old, path) == old


@pytest.mark.parametrize("name", CLIENTS)
def test_an_entry_that_is_alone_leaves_nothing(name, tmp_path):
    new = configuration(CLIENTS[name])
    assert without_entry(CLIENTS[name], new, tmp_path) == without_entry(CLIENTS[name], "", tmp_path) == ""


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


@pytest.mark.parametrize(
    ("name", "old"),
    [
        ("cursor", '{"a": 1,}'),
        ("zed", '// comment\n{"a": 1}'),
        ("cursor", "[]"),
        ("cursor", '{"mcpServers": []}'),
        ("cursor", '{"mcpServers": {"codesearch": {"command": "mine"}}}'),
        ("codex", "a = "),
        ("codex", "mcp_servers = {}"),
        ("codex", '[mcp_servers.codesearch]\ncommand = "mine"\n'),
    ],
)
def test_a_file_that_cannot_be_merged_is_an_error(name, old, tmp_path):
    with pytest.raises(ConfigError) as error:
        configuration(CLIENTS[name], (), old, tmp_path)
    assert "\n" not in str(error.value)


def hook_of(tmp_path):
    return next(part for part in parts_of(CLIENTS["claude"], tmp_path, None) if part.what == "the hook")


@pytest.mark.parametrize(
    "old",
    ["", '{\n  "x": 1\n}\n', json.dumps({"hooks": {"PostToolUse": [{"hooks": [{}]}]}}, indent=2) + "\n"],
)
def test_a_hook_is_added_once_and_taken_out(old, tmp_path):
    hook = hook_of(tmp_path)
    new = hook.add(old)
    groups = json.loads(new)["hooks"]["PostToolUse"]
    assert groups[-1]["matcher"] == "Grep|Bash" and groups[-1]["hooks"][0]["command"].endswith("mcp --hook")
    assert hook.add(new) == new and hook.take(new) == old == hook.take(old)
    moved = new.replace("codesearch mcp --hook", "old/codesearch mcp --hook")
    assert hook.add(moved) == new, "a hook of another installation stays"
    assert hook.add(new.replace("Grep|Bash", "Grep")) == new, "the hook of an earlier version stays"


def test_a_hook_beside_one_of_codesearch_stays_and_other_shapes_are_errors(tmp_path):
    hook = hook_of(tmp_path)
    config = json.loads(hook.add(""))
    config["hooks"]["PostToolUse"][0]["hooks"].append({"command": "mine"})
    assert json.loads(hook.take(json.dumps(config)))["hooks"]["PostToolUse"][0]["hooks"] == [
        {"command": "mine"}
    ]
    of_others = [1, {"hooks": 2}, {"matcher": "Edit", "hooks": []}]
    config["hooks"]["PostToolUse"] = [*of_others, *json.loads(hook.add(""))["hooks"]["PostToolUse"]]
    assert json.loads(hook.take(json.dumps(config)))["hooks"]["PostToolUse"] == of_others
    for old in ("[]", '{"hooks": []}', '{"hooks": {"PostToolUse": {}}}', "{,}"):
        with pytest.raises(ConfigError):
            hook.add(old)
    assert hook.take('{"hooks": {"PostToolUse": [1, {"hooks": 2}]}}').startswith('{"hooks"')


@pytest.mark.parametrize(
    ("response", "suggests"),
    [
        ({"mode": "files_with_matches", "numFiles": 0, "filenames": []}, True),
        ({"mode": "content", "numFiles": 0, "numLines": 3}, False),
        ("No files found", True),
        ("a.py:3:No files found", False),
        ({}, False),
        (None, False),
    ],
)
def test_the_hook_suggests_a_search_only_if_grep_found_nothing(response, suggests):
    answer = hook_answer(json.dumps({"tool_name": "Grep", "tool_response": response}))
    assert bool(answer) == suggests
    if suggests:
        assert "search" in json.loads(answer)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("text", ["", "[]", "{}", "1", "[" * 100_000])
def test_the_hook_is_silent_about_what_it_does_not_understand(text):
    assert hook_answer(text) == ""


def test_text_that_utf_8_cannot_hold_is_kept(tmp_path):
    old = '{"history": ["cut \\ud83d"], "mcpServers": {}}'
    new = configuration(CLIENTS["cursor"], (), old, tmp_path)
    assert json.loads(new.encode())["history"] == ["cut \ud83d"]


@pytest.mark.parametrize(
    ("command", "stdout", "suggests"),
    [
        ("rg 'retry limit' src/", "", True),
        ("cd src && grep -rn retry . 2>/dev/null | head", "", True),
        ("git grep --line-number retry", "", True),
        ("rg retry", "a.py:1:retry", False),
        ("make | grep error", "", False),
        ("grep -q retry a.py", "", False),
        ("rg retry > found.txt", "", False),
        ("ls", "", False),
        ("program --rg x", "", False),
    ],
)
def test_the_hook_sees_a_grep_in_a_shell_that_found_nothing(command, stdout, suggests):
    response = {"stdout": stdout, "stderr": "", "interrupted": False}
    event = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": response}
    assert bool(hook_answer(json.dumps(event))) is suggests
