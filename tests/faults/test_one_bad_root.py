"""What is wrong with one of several indexed folders is one line in an answer; the others answer as before."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from codesearch import Engine, Scope
from codesearch.errors import ConfigError, IndexCorruptError
from codesearch.store.catalogue import index_folder
from tests.command import Command
from tests.conftest import write_tree

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")
pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

import anyio
from mcp import Client
from starlette.testclient import TestClient

from codesearch.agents.server import make_server
from codesearch.web.app import Work, make_app

GIRAFFE = "def find_the_giraffe():\n    return 1\n"
ANY_BYTES = pytest.mark.skipif(sys.platform != "linux", reason="a path has any bytes only on Linux")


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "good", {"g.py": GIRAFFE})


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "bad", {"b.py": GIRAFFE.replace("giraffe", "lion")})


@pytest.fixture
def engine(good: Path, bad: Path, engine: Engine) -> Engine:
    for root in (good, bad):
        engine.index(root)
    return engine


def web(engine: Engine) -> TestClient:
    app = make_app(engine, Work(deadline_s=120))
    return TestClient(app, base_url="http://127.0.0.1:7177")


def call(engine: Engine, project: Path, *calls: tuple[str, dict[str, object]]) -> list[tuple[bool, str]]:
    async def session() -> list[tuple[bool, str]]:
        async with Client(make_server(engine, project, project)) as client:
            results = [await client.call_tool(name, arguments) for name, arguments in calls]
            return [(bool(result.is_error), result.content[0].text) for result in results]

    return anyio.run(session)


def break_settings(root: Path) -> None:
    (root / ".codesearch.toml").write_text("x = [\n")


def damage(engine: Engine, root: Path) -> Path:
    damaged = index_folder(engine.home, root) / "segments/000001/rows.npy"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"\x7f")
    return damaged


def test_broken_settings_in_one_folder_are_a_note_of_every_search(engine, good, bad):
    break_settings(bad)
    answer = engine.search("find giraffe", Scope(everything=True))
    assert [(hit.root, hit.path) for hit in answer.hits] == [(str(good), "g.py"), (str(bad), "b.py")]
    states = {one.root: (one.state, one.error.partition(" (")[0]) for one in answer.freshness}
    assert states == {
        str(good): ("current", ""),
        str(bad): ("unchecked", f"{bad}/.codesearch.toml: not valid TOML"),
    }
    usages = engine.session(Scope(everything=True)).usages("find_the_giraffe")
    assert [one.state for one in usages.freshness] == ["unchecked", "current"]
    assert [one.path for one in engine.session(Scope(everything=True)).read("find_the_giraffe").places] == [
        "g.py"
    ]
    with pytest.raises(ConfigError, match="not valid TOML"):
        engine.search("find giraffe", Scope((bad,)))


def test_broken_settings_in_one_folder_do_not_hide_the_status_of_others(engine, good, bad):
    break_settings(bad)
    found = {one.root: one for one in engine.status(changes=True)}
    assert (found[str(good)].changes.to_parse, found[str(good)].unchecked) == (0, "")
    assert found[str(bad)].changes is None
    assert found[str(bad)].unchecked.startswith(f"{bad}/.codesearch.toml: not valid TOML")


def test_a_damaged_index_is_left_out_with_a_note_and_alone_it_is_an_error(engine, good, bad):
    damaged = damage(engine, bad)
    answer = engine.search("find giraffe", Scope(everything=True))
    assert [(hit.root, hit.path) for hit in answer.hits] == [(str(good), "g.py")]
    assert answer.roots == (str(good),)
    (lost,) = [one for one in answer.freshness if one.state == "unreadable"]
    assert lost.root == str(bad)
    assert lost.error == f"{damaged}: its bytes were changed: run `codesearch index --rebuild {bad}`"
    with pytest.raises(IndexCorruptError, match="its bytes were changed"):
        engine.search("find giraffe", Scope((bad,)))


def test_a_damaged_manifest_is_left_out_with_a_note(engine, good, bad):
    folder = index_folder(engine.home, bad)
    (folder / "manifest.json").write_bytes(b"{")
    answer = engine.search("find giraffe", Scope(everything=True))
    assert answer.roots == (str(good),)
    assert [(one.root, one.state) for one in answer.freshness] == [
        (str(good), "current"),
        (str(folder), "unreadable"),
    ]


def test_if_every_index_is_damaged_a_search_is_an_error(engine, good, bad):
    for root in (good, bad):
        damage(engine, root)
    with pytest.raises(IndexCorruptError, match="its bytes were changed"):
        engine.search("find giraffe", Scope(everything=True))


def test_the_web_page_searches_although_one_folder_has_broken_settings(engine, good, bad):
    break_settings(bad)
    answer = web(engine).get("/api/v1/search", params={"q": "find giraffe"})
    assert (answer.status_code, answer.json()["hits"][0]["root"]) == (200, str(good))
    assert {one["root"]: one["state"] for one in answer.json()["freshness"]} == {
        str(good): "current",
        str(bad): "unchecked",
    }
    status = web(engine).get("/api/v1/status").json()
    assert {one["root"] for one in status["roots"]} == {str(good), str(bad)}


def test_the_web_page_shows_the_other_folders_if_one_index_is_damaged(engine, good, bad):
    damage(engine, bad)
    assert [one["root"] for one in web(engine).get("/api/v1/status").json()["roots"]] == [str(good)]


@pytest.fixture
def odd(good: Path) -> Path:
    """Return a project whose path is not UTF-8."""
    return write_tree(good.parent / os.fsdecode(b"b\xffd"), {"a.py": GIRAFFE})


@ANY_BYTES
def test_the_web_page_names_a_folder_whose_path_is_not_utf8_and_finds_it_by_that_name(engine, good, odd):
    engine.index(odd)
    client, shown = web(engine), f"{good.parent}/b\\udcffd"
    assert shown in [root["root"] for root in client.get("/api/v1/status").json()["roots"]]
    (hit,) = client.get("/api/v1/search", params={"q": "find giraffe", "root": shown}).json()["hits"]
    assert (hit["root"], hit["path"]) == (shown, "a.py")
    opened = client.get("/api/v1/file", params={"root": shown, "path": "a.py"}).json()
    assert (opened["root"], opened["line_count"]) == (shown, 2)
    refused = client.get("/api/v1/file", params={"root": shown, "path": "b.py"})
    assert (refused.status_code, refused.json()["error"]["message"].count(shown)) == (404, 1)


@ANY_BYTES
def test_agents_get_every_answer_of_a_project_whose_path_is_not_utf8(engine, odd):
    found, status, wrong, again = call(
        engine,
        odd,
        ("search", {"query": "giraffe"}),
        ("status", {}),
        ("read", {"place": "/elsewhere/x:1"}),
        ("search", {"query": "giraffe"}),
    )
    assert (found[0], again) == (False, found)
    assert "a.py:1-2 find_the_giraffe\n" in found[1]
    assert status[1].startswith(f"project {odd.parent}/b\\udcffd\n")
    assert wrong == (True, "/elsewhere/x is not in the index: give the path of a file in it")


def test_agents_learn_the_right_name_of_an_unknown_argument_or_tool(engine, good):
    assert call(
        engine,
        good,
        ("search", {"query": "giraffe", "lang": "python"}),
        ("search", {"query": "giraffe", "max_token": 200}),
        ("status", {"zebra": 1}),
        ("reads", {"place": "x"}),
    ) == [
        (True, "search has no argument 'lang': did you mean 'language'?"),
        (True, "search has no argument 'max_token': did you mean 'max_tokens'?"),
        (True, "status has no argument 'zebra': choose from none"),
        (True, "no tool 'reads': did you mean 'read'?"),
    ]


def test_a_folder_outside_of_git_is_a_note_of_a_search_for_changed_files(engine, good, bad):
    subprocess.run(["git", "init", "-q", good], check=True)
    answer = engine.search("find giraffe", Scope(everything=True), changed="HEAD")
    assert [(hit.root, hit.path) for hit in answer.hits] == [(str(good), "g.py")]
    (lost,) = [one for one in answer.freshness if one.state == "unreadable"]
    assert (lost.root, lost.error) == (
        str(bad),
        f"{bad} is in no git work tree: --changed compares files with a git revision",
    )
    with pytest.raises(ConfigError, match="is in no git work tree"):
        engine.search("find giraffe", Scope((bad,)), changed="HEAD")


def test_reading_and_outlines_name_the_index_that_is_left_out(engine, good, bad, tmp_path):
    damage(engine, bad)
    command = Command(tmp_path, engine.home)
    read = command("read", "find_the_giraffe", "--all")
    outline = command("outline", "find_the_giraffe", "--all")
    for done in (read, outline):
        assert (done.returncode, "find_the_giraffe" in done.stdout) == (0, True)
        assert done.stderr.startswith(f"note: {bad} is left out: ")
        assert done.stderr.count("\n") == 1
