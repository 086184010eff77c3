"""Configurations of clients are merged without losing anything."""

from __future__ import annotations

import json
import tomllib

import pytest

from codesearch.agents.clients import CLIENTS, configuration, entry_of, write_configuration
from codesearch.errors import ConfigError


def table_of(config, client):
    for key in client.keys:
        config = config[key]
    return config


@pytest.mark.parametrize("name", CLIENTS)
def test_a_merge_keeps_other_settings_and_a_second_merge_changes_nothing(name, tmp_path):
    client, path = CLIENTS[name], tmp_path / "config"
    parse = tomllib.loads if client.file.endswith(".toml") else json.loads
    other: dict = {"command": "x", "args": ["ü"]}
    if client.file.endswith(".toml"):
        old = f'# kept\nmodel = "m"\n\n[{".".join(client.keys)}.other]\ncommand = "x"\nargs = ["ü"]'
    else:
        nested: dict = {"other": other}
        for key in reversed(client.keys):
            nested = {key: nested}
        old = json.dumps({"model": "m", **nested})
    path.write_text(old, "utf-8")
    path.chmod(0o600)
    backup = write_configuration(client, path)
    config = parse(path.read_text("utf-8"))
    assert backup is not None and backup.read_text("utf-8") == old
    assert path.stat().st_mode & 0o777 == 0o600
    assert config["model"] == "m"
    assert table_of(config, client) == {"other": other, "codesearch": entry_of(client)}
    assert write_configuration(client, path) is None


@pytest.mark.parametrize("name", CLIENTS)
def test_a_new_file_has_the_printed_configuration(name, tmp_path):
    path = tmp_path / "new/config"
    assert write_configuration(CLIENTS[name], path) is None
    assert path.read_text("utf-8") == configuration(CLIENTS[name], entry_of(CLIENTS[name]))


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
def test_a_file_that_cannot_be_merged_does_not_change(name, old, tmp_path):
    path = tmp_path / "config"
    path.write_text(old)
    with pytest.raises(ConfigError) as error:
        write_configuration(CLIENTS[name], path)
    assert "\n" not in str(error.value)
    assert path.read_text() == old and list(tmp_path.iterdir()) == [path]
