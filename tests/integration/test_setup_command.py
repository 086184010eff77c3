"""`codesearch mcp --setup`: what codesearch writes into files of agents, and how it goes away."""

import json
from pathlib import Path

import pytest

from codesearch.agents.clients import AGENTS_MD


def content_of(folder: Path) -> dict[str, bytes | str]:
    """Return what each path below a folder has: the bytes of a file, the target of a link, or nothing."""
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else ""
        for path in folder.rglob("*")
    }


@pytest.fixture
def user(command, tmp_path) -> Path:
    """The home of a user with configurations of clients, and the project `project` with a file CLAUDE.md."""
    user = tmp_path / "user"
    (user / ".cursor").mkdir(parents=True)
    (user / ".cursor/mcp.json").write_text('{"mcpServers": {"other":   {"command": "x"}}}')
    (user / ".cursor/mcp.json.1.bak").write_text("{}")
    (user / ".config/zed").mkdir(parents=True)
    (user / ".config/zed/settings.json").write_text("// mine\n{}\n")
    (user / ".config/codesearch").mkdir(parents=True)
    (user / ".config/codesearch/config.toml").write_text("hits = 7\n")
    (user / "project/.git").mkdir(parents=True)
    (user / "project/CLAUDE.md").write_text("# Mine")
    command.variables.update(HOME=str(user), XDG_CONFIG_HOME="")
    return user


def test_a_file_that_cannot_be_edited_is_named_and_stays(command, user):
    broken = user / ".config/zed/settings.json"
    broken.write_text('// mine\n{"context_servers": {"codesearch": {}}}')
    (user / "project/GEMINI.md").symlink_to(user / "outside")
    before = content_of(user)
    assert command.fails("mcp", "--setup", "zed", "--remove", cwd=user / "project").startswith(
        f"error: {broken} is not JSON without comments"
    )
    assert content_of(user) == before


def test_setup_shows_the_diff_of_the_instructions_and_changes_nothing(command, user):
    before = content_of(user)
    done = command("mcp", "--setup", "claude", cwd=user / "project")
    assert done.stderr.endswith(
        "add --instructions to see changes of the CLAUDE.md of this project, a skill, a hook\n"
    )
    assert "+" not in done.stdout
    done = command("mcp", "--setup", "claude", "--instructions", cwd=user / "project")
    configuration, skill, hook, diff = done.stdout.split("--- ")
    assert "codesearch" in json.loads(configuration)["mcpServers"]
    assert "+name: codesearch\n" in skill and "mcp --hook" in hook
    lines = diff.splitlines()
    assert lines[3:5] == ["-# Mine", "\\ No newline at end of file"]
    added = "\n".join(line[1:] for line in lines[5:] if line.startswith("+"))
    assert added.startswith("# Mine\n\n<!--") and AGENTS_MD in added
    assert content_of(user) == before


def test_write_adds_the_instructions_with_a_backup_and_remove_takes_everything_back(command, user):
    project, config = user / "project", user / ".cursor/mcp.json"
    config.write_text('{\n  "mcpServers": {\n    "other": {}\n  }\n}\n')
    (project / "AGENTS.md").write_text("# Rules\r\n")
    before = content_of(user)
    written = ["mcp", "--setup", "cursor", "--instructions", "--write"]
    done = command(*written, cwd=project)
    assert done.stdout.splitlines() == [
        f"{config} has the entry codesearch; the file as it was is in mcp.json.codesearch.bak",
        f"{user}/.cursor/skills/codesearch/SKILL.md has the skill",
        f"{project}/AGENTS.md has the instructions; the file as it was is in AGENTS.md.codesearch.bak",
    ]
    now = content_of(user)
    assert now["project/AGENTS.md.codesearch.bak"] == b"# Rules\r\n"
    command.succeeds(*written, cwd=project)
    assert content_of(user) == now, "the second time changed something"
    done = command("mcp", "--setup", "cursor", "--remove", cwd=project)
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("deleted")] == [
        f"deleted the entry codesearch: {config}",
        f"deleted backup: {config}.codesearch.bak",
        f"deleted the skill: {user}/.cursor/skills/codesearch/SKILL.md",
        f"deleted the instructions: {project}/AGENTS.md",
        f"deleted backup: {project}/AGENTS.md.codesearch.bak",
    ]
    assert '-    "codesearch": {' in lines and "-## Code search\\r" in lines
    assert content_of(user) == before | {".cursor/skills": ""}
    done = command("mcp", "--setup", "cursor", "--remove", cwd=project)
    assert done.stdout.startswith(f"nothing of codesearch is in {config}, ")
    assert content_of(user) == before | {".cursor/skills": ""}


def test_a_hook_and_an_entry_of_toml_are_taken_back_too(command, user):
    before, at = content_of(user), ("--root", user / "project")
    for client in ("claude", "codex"):
        command.succeeds("mcp", "--setup", client, "--instructions", "--write", *at)
    written = content_of(user)
    assert (
        b"mcp --hook" in written[".claude/settings.json"] and b"codesearch" in written[".codex/config.toml"]
    )
    for client in ("claude", "codex"):
        command.succeeds("mcp", "--setup", client, "--remove", *at)
    now = content_of(user)
    assert {path: content for path, content in now.items() if content} == {
        path: content for path, content in before.items() if content
    } | {"project/CLAUDE.md": b"# Mine\n"}


def test_a_file_that_setup_made_is_deleted_again(command, user):
    command.succeeds("mcp", "--setup", "gemini", "--instructions", "--write", "--root", user / "project")
    assert (user / "project/GEMINI.md").exists()
    command.succeeds("mcp", "--setup", "gemini", "--remove", "--root", user / "project")
    assert not (user / "project/GEMINI.md").exists()


def test_a_skill_that_a_user_extended_keeps_what_is_theirs(command, user):
    skill = user / ".gemini/skills/codesearch/SKILL.md"
    written = ["mcp", "--setup", "gemini", "--instructions", "--write", "--root", user / "project"]
    command.succeeds(*written)
    skill.write_text(skill.read_text() + "Mine.\n")
    command.succeeds(*written)
    assert skill.read_text().endswith("-->\nMine.\n")
    command.succeeds("mcp", "--setup", "gemini", "--remove", "--root", user / "project")
    assert skill.read_text() == "Mine.\n"


def test_the_hook_answers_in_a_project_only(command, user):
    asked = '{"tool_name": "Grep", "tool_response": "No files found"}'
    answered, silent = (command("mcp", "--hook", cwd=user / name, input=asked) for name in ("project", ""))
    assert "additionalContext" in json.loads(answered.stdout)["hookSpecificOutput"]
    assert (silent.returncode, silent.stdout) == (0, "")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--remove"], "--remove needs --setup NAME"),
        (["--setup", "codex", "--remove", "--write"], "--remove excludes --write and --instructions"),
        (["--setup", "zed", "--instructions"], "no instruction file of Zed is known"),
        (["--setup", "codex", "--instructions"], "no project here: give the folder of AGENTS.md with --root"),
    ],
)
def test_wrong_combinations_are_errors(words, error, command, user):
    assert command.fails("mcp", *words, cwd=user).startswith(f"error: {error}")
