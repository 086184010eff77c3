"""`codesearch uninstall` and `mcp --setup`: what codesearch wrote outside of its package, and how it goes away."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from codesearch.agents.clients import AGENTS_MD
from codesearch.files import file_lock
from codesearch.service.client import FOLDER, LOCK

TOLD = "nothing was deleted: `codesearch uninstall --delete` deletes all but what is kept\n"


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


def test_uninstall_lists_with_sizes_and_deletes_only_when_told(indexed, command, home, user):
    project = user / "project"
    before = content_of(user)
    sources = content_of(indexed)
    assert command("mcp", "--setup", "claude", "--instructions", "--write", cwd=project).returncode == 0
    assert command("mcp", "--setup", "codex", "--write").returncode == 0
    (home / "cache").mkdir()
    (home / "cache/x.sqlite").write_bytes(bytes(2_500_000))
    written = content_of(user), content_of(home)
    listed = command("uninstall", cwd=project)
    assert (listed.returncode, listed.stderr) == (0, "")
    size = sum(path.stat().st_size for path in (home / "indexes").rglob("*") if path.is_file())
    assert [line.split(None, 2)[2] for line in listed.stdout.splitlines()[:-1]] == [
        f"{home}/indexes  (indexes)",
        f"{home}/cache  (cache)",
        f"{user}/.config/codesearch/config.toml  (kept: your settings, which codesearch never writes)",
        f"--setup claude --remove` takes its text out of {user}/.claude.json",
        f"--setup claude --remove` takes its text out of {user}/.claude/skills/codesearch/SKILL.md",
        f"--setup claude --remove` takes its text out of {user}/.claude/settings.json",
        f"--setup claude --remove` takes its text out of {project}/CLAUDE.md",
        f"--setup codex --remove` takes its text out of {user}/.codex/config.toml",
    ]
    assert listed.stdout.split()[:2] == [str(-(-size // 1000)), "kB"]
    assert "    2.5 MB  " in listed.stdout and listed.stdout.endswith(TOLD)
    assert (content_of(user), content_of(home)) == written

    done = command("uninstall", "--delete", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines[:2]] == ["deleted indexes", "deleted cache"]
    assert lines[3:] == listed.stdout.splitlines()[3:-1]
    assert not home.exists() and content_of(indexed) == sources
    assert content_of(user) == written[0]
    for client in ("claude", "codex"):
        assert command("mcp", "--setup", client, "--remove", cwd=project).returncode == 0
    assert content_of(user) == before | {
        ".codex": "", ".claude": "", ".claude/skills": "", "project/CLAUDE.md": b"# Mine\n"
    }  # fmt: skip
    assert command("uninstall", "--delete", cwd=project).stdout.endswith("has no files to delete here\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_uninstall_deletes_completion(command, user, shell):
    (user / ".bashrc").write_text("alias x=y\n")
    (user / ".zshrc").write_text("")
    command.variables.update(_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert command("--install-completion", shell).returncode == 0
    scripts = [path for path in user.rglob("*codesearch*") if path.is_file()]
    assert len(scripts) == 1
    listed = command("uninstall").stdout
    assert f"{scripts[0]}  (completion)\n" in listed
    assert (f"{user}/.bashrc  (completion)\n" in listed) == (shell == "bash")
    assert command("uninstall", "--delete").returncode == 0
    assert not scripts[0].exists() and (user / ".bashrc").read_text() == "alias x=y\n"


def test_uninstall_asks_for_the_home_it_is_given_and_does_not_follow_links(indexed, command, home, user):
    other, elsewhere = user / "other", user / "elsewhere"
    shutil.copytree(home, other, ignore=shutil.ignore_patterns("cache"))
    elsewhere.mkdir()
    (elsewhere / "file").write_text("mine")
    (other / "indexes/link").symlink_to(elsewhere)
    (other / "cache").symlink_to(elsewhere)
    (user / "link").symlink_to(other)
    before = content_of(home), content_of(elsewhere)
    done = command("uninstall", "--delete", "--home", user / "link")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == f"deleted indexes: {user}/link/indexes"
    assert "/cache  (kept: not a folder that codesearch made)" in done.stdout
    assert os.listdir(other) == ["cache"] and (user / "link").is_symlink()
    assert (content_of(home), content_of(elsewhere)) == before


def test_uninstall_keeps_a_home_with_files_of_others(indexed, command, home, user):
    (home / "notes.txt").write_text("mine")
    before = content_of(home)
    done = command("uninstall", "--delete")
    assert done.stdout.splitlines()[0].endswith("(kept: notes.txt in this folder is not codesearch's)")
    assert content_of(home) == before


def test_uninstall_deletes_nothing_while_a_service_runs(indexed, command, home, user):
    (home / FOLDER).mkdir()
    before = content_of(home / "indexes")
    with file_lock(home / FOLDER / LOCK):
        done = command("uninstall", "--delete")
    assert done.returncode == 2
    assert (
        done.stderr == f"error: process {os.getpid()} answers queries: run `codesearch serve --stop` first\n"
    )
    assert content_of(home / "indexes") == before


def test_a_file_that_cannot_be_edited_is_named_and_stays(command, user):
    broken = user / ".config/zed/settings.json"
    broken.write_text('// mine\n{"context_servers": {"codesearch": {}}}')
    (user / "project/GEMINI.md").symlink_to(user / "outside")
    before = content_of(user)
    done = command("uninstall", "--delete", cwd=user / "project")
    assert f"`codesearch mcp --setup zed --remove` takes its text out of {broken}\n" in done.stdout
    error = command("mcp", "--setup", "zed", "--remove", cwd=user / "project").stderr
    assert error.startswith(f"error: {broken} is not JSON without comments")
    assert (done.returncode, done.stderr, content_of(user)) == (0, "", before)


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
    done = command("mcp", *words, cwd=user)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {error}")
