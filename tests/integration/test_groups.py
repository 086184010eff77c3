"""Groups: several folders in one answer, on the command line, over HTTP, in Python, and for agents."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codesearch import Engine, Scope
from codesearch.errors import ConfigError
from codesearch.settings import user_file, user_groups
from codesearch.store.catalogue import index_folder
from tests.command import TIMEOUT, Command
from tests.conftest import break_format, write_tree
from tests.integration.test_serve_command import serving


def retry(name: str) -> dict[str, str]:
    return {f"{name}.py": f'def retry_{name}(request):\n    """Retry a request."""\n    return {name}\n'}


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A folder with two projects, and one with a part that belongs to no group."""
    for name in ("api", "lib", "mono/web", "mono/secret"):
        write_tree(tmp_path / name, retry(Path(name).name))
    (tmp_path / "empty").mkdir()
    return tmp_path


@pytest.fixture(autouse=True)
def _settings(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folders / "config"))
    write_groups(folders, backend=("api", "lib"), web=("lib", "mono/web"), some=("api", "gone"))


def write_groups(folders: Path, **groups: Iterable[str]) -> None:
    path = user_file({"XDG_CONFIG_HOME": str(folders / "config")}, folders)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (
        f"{name} = {json.dumps([str(folders / one) for one in roots])}\n" for name, roots in groups.items()
    )
    path.write_text("[groups]\n" + "".join(lines))


@pytest.fixture
def command(folders: Path, home: Path) -> Command:
    """The command in a folder that no index covers; a first query may index."""
    return Command(folders / "empty", home, {"CODESEARCH_AUTO_INDEX": "yes"})


def index_all(engine: Engine, folders: Path) -> None:
    for name in ("api", "lib", "mono"):
        engine.index(folders / name)


def names(engine: Engine, **scope: Any) -> set[str]:
    return {hit.name for hit in engine.search("retry a request", Scope(**scope)).hits}


def compact(folders: Path, *paths: str) -> str:
    return "".join(f"{folders}/{path}:1  retry_{Path(path).stem}  function, 3 lines\n" for path in paths)


def unordered(text: str) -> set[str]:
    """Two hits that differ in one word only have the order that the model gives them."""
    return set(text.splitlines())


def test_the_first_query_of_a_group_indexes_its_folders_and_one_answer_has_all_of_them(command, folders):
    done = command("query", "retry a request", "--group", "backend", "--compact")
    assert unordered(done.stdout) == unordered(compact(folders, "api/api.py", "lib/lib.py"))
    first, second = done.stderr.splitlines()
    assert first.startswith(f"indexed {folders}/api: 1 document in ")
    assert second.startswith(f"indexed {folders}/lib: 1 document in ")
    again = command("query", "retry a request", "--group", "backend", "--json")
    assert (again.returncode, again.stderr) == (0, "")
    roots = {hit["root"] for hit in json.loads(again.stdout)["hits"]}
    assert roots == {f"{folders}/api", f"{folders}/lib"}


def test_every_command_of_searches_and_places_takes_a_group(command, folders):
    found = command("read", "retry_lib", "--group", "backend")
    assert found.stdout.startswith(f"{folders}/lib/lib.py:1-3  retry_lib")
    assert command("similar", "retry_lib", "--group", "backend", "--compact").stdout == compact(
        folders, "api/api.py"
    )
    assert command("usages", "retry_api", "--group", "backend").stdout.startswith(f"{folders}/api/api.py:1  ")
    outline = command("outline", "--group", "backend").stdout.splitlines()
    assert [line for line in outline if line.startswith("/")] == [f"{folders}/api", f"{folders}/lib"]
    asked = command("outline", "--group", "backend", "--for", "retry a request").stdout
    assert "return api" in asked and "return lib" in asked


def test_a_folder_of_a_larger_index_is_searched_alone(command, folders, engine):
    index_all(engine, folders)
    done = command("query", "retry a request", "--group", "web", "--compact")
    assert (done.stdout, done.stderr) == (compact(folders, "lib/lib.py", "mono/web/web.py"), "")
    assert command("read", "retry_secret", "--group", "web").stderr == (
        f"error: 'retry_secret' is outside of {folders}/lib, {folders}/mono/web\n"
    )


def test_paths_narrow_a_group(command, folders):
    done = command("query", "retry a request", "../lib", "--group", "backend", "--compact")
    assert done.stdout == compact(folders, "lib/lib.py")


def test_a_folder_that_is_gone_or_may_not_be_indexed_is_a_note(command, folders):
    done = command("query", "retry", "--group", "some", "--compact")
    assert (done.returncode, done.stdout) == (0, compact(folders, "api/api.py"))
    assert done.stderr.splitlines()[1] == f"note: {folders}/gone is left out: not a folder: correct the group"
    done = command("query", "retry", "--group", "backend", "--compact", "--no-index")
    assert (done.returncode, done.stdout) == (0, compact(folders, "api/api.py"))
    cure = f"run `codesearch index {folders}/lib`"
    assert done.stderr == f"note: {folders}/lib is left out: not indexed: {cure}\n"


def test_a_folder_that_cannot_be_indexed_is_one_note_with_the_reason(command, folders):
    (folders / "lib/.codesearch.toml").write_text("x = [")
    done = command("query", "retry", "--group", "backend", "--compact")
    assert (done.returncode, done.stdout) == (0, compact(folders, "api/api.py"))
    (note,) = done.stderr.splitlines()[1:]
    assert note.startswith(f"note: {folders}/lib is left out: {folders}/lib/.codesearch.toml: not valid TOML")


def test_the_home_of_the_user_is_not_indexed_for_a_group(engine, folders, monkeypatch):
    monkeypatch.setenv("HOME", str(folders))
    engine.session(Scope(folders=("~", folders / "api")))
    assert list(engine.indexed_roots()) == [f"{folders}/api"]


def test_an_index_that_cannot_be_read_is_a_note(engine, folders):
    index_all(engine, folders)
    break_format(index_folder(engine.home, folders / "lib"))
    answer = engine.search("retry a request", Scope(group="backend"))
    assert [hit.name for hit in answer.hits] == ["retry_api"]
    assert [(one.root, one.state) for one in answer.freshness] == [
        (f"{folders}/api", "current"),
        (str(index_folder(engine.home, folders / "lib")), "unreadable"),
    ]


def test_a_group_without_any_folder_to_search_is_an_error(command, folders):
    write_groups(folders, nothing=("gone",))
    assert (
        command.fails("query", "retry", "--group", "nothing")
        == f"error: {folders}/gone is not a folder: correct the group\n"
    )


def test_bad_input_is_one_line(command, folders):
    unknown = command("query", "retry", "--group", "nope")
    assert unknown.stderr == (
        f"error: no group 'nope' (known: backend, web, some): write it below [groups] in "
        f'{folders}/config/codesearch/config.toml, as NAME = ["~/src/api", "~/src/lib"]\n'
    )
    for options in (("--all",), ("--root", "x")):
        both = command("query", "retry", "--group", "backend", *options)
        assert both.stderr == "error: --group excludes --root and --all: give only one of them\n"
    revision = command("query", "retry", "--group", "backend", "--at", "HEAD")
    assert revision.stderr.startswith("error: --at searches one folder: ")
    assert {done.returncode for done in (unknown, both, revision)} == {2}


def test_with_a_service_a_group_answers_the_same_and_its_client_indexes(command, folders):
    with serving(replace(command, variables={"XDG_CONFIG_HOME": "/nowhere"}), "--no-watch") as service:
        first = command("query", "retry a request", "--group", "backend", "--compact")
        again = command("query", "retry a request", "--group", "backend", "--compact")
        write_groups(folders, backend=("api", "mono/web", "gone"))
        other = command("query", "retry a request", "--group", "backend", "--compact")
        alone = command("query", "retry a request", "--group", "backend", "--compact", "--no-service")
        service.terminate()
        assert service.wait(TIMEOUT) == 0
    assert first.stdout == again.stdout
    assert unordered(first.stdout) == unordered(compact(folders, "api/api.py", "lib/lib.py"))
    assert (len(first.stderr.splitlines()), again.stderr) == (2, "")
    assert other.stdout == alone.stdout == compact(folders, "api/api.py", "mono/web/web.py")
    assert alone.stderr == f"note: {folders}/gone is left out: not a folder: correct the group\n"
    assert other.stderr.endswith(alone.stderr) and other.stderr.startswith(f"indexed {folders}/mono/web: ")


def test_in_python_a_scope_names_a_group_or_its_folders(engine, folders, monkeypatch):
    assert not engine.indexed_roots()
    engine.session(Scope(group="backend"))
    assert engine.indexed_roots().keys() == {f"{folders}/api", f"{folders}/lib"}
    index_all(engine, folders)
    assert names(engine, group="backend") == {"retry_api", "retry_lib"}
    assert names(engine, folders=[folders / "mono/web"]) == {"retry_web"}
    monkeypatch.chdir(folders / "mono")
    assert [one.root for one in engine.session(Scope(folders=["web"])).outline(".").places] == [
        f"{folders}/mono"
    ]
    assert names(engine, group="backend", within=[folders / "lib"]) == {"retry_lib"}
    with pytest.raises(ConfigError, match="no group 'nope'"):
        names(engine, group="nope")


def test_the_http_api_searches_groups_and_lists_them(engine, folders):
    pytest.importorskip("starlette", reason="the extra `web` is not installed")
    pytest.importorskip("httpx", reason="httpx is not installed")
    from starlette.testclient import TestClient

    from codesearch.web.app import Work, make_app

    index_all(engine, folders)
    app = make_app(engine, Work(deadline_s=120))
    client = TestClient(app, base_url="http://127.0.0.1:7177")

    def get(name: str, **parameters: object) -> dict[str, Any]:
        return client.get(f"/api/v1/{name}", params=parameters).json()

    assert get("status")["groups"]["backend"] == [f"{folders}/api", f"{folders}/lib"]
    hits = get("search", q="retry a request", group="web")["hits"]
    assert [(hit["root"], hit["path"]) for hit in hits] == [
        (f"{folders}/lib", "lib.py"),
        (f"{folders}/mono", "web/web.py"),
    ]
    place = {"root": f"{folders}/api", "path": "api.py", "line": 1, "group": "backend"}
    assert [hit["name"] for hit in get("similar", **place)["hits"]] == ["retry_lib"]
    assert get("search", q="retry", group="nope")["error"]["message"].startswith("no group 'nope' (known: ")
    both = get("search", q="retry", group="web", root=f"{folders}/api")
    assert both["error"]["message"] == "a root and a group exclude each other"
    user_file({"XDG_CONFIG_HOME": str(folders / "config")}, folders).write_text("x = [")
    assert (get("status")["groups"], "error" in get("search", q="retry", group="web")) == ({}, True)


Call = tuple[str, dict[str, object]]


def ask(engine: Engine, project: Path, *calls: Call, groups: Iterable[str] = ()) -> list[Any]:
    """Call tools of an agent's server that may search some groups."""
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    import anyio
    from mcp import Client

    from codesearch.agents.server import make_server

    async def session() -> list[Any]:
        allowed = {name: user_groups()[name] for name in groups}
        async with Client(make_server(engine, project, project, groups=allowed)) as client:
            return [await client.call_tool(name, values) for name, values in calls]

    return anyio.run(session)


def texts(results: Iterable[Any]) -> list[str]:
    return [result.content[0].text for result in results]


def test_an_agent_searches_the_groups_that_the_user_allowed_and_other_files_have_whole_paths(engine, folders):
    """A file of the project has its path below it; any other has its whole path."""
    calls: list[Call] = [
        ("search", {"query": "retry a request", "group": "backend"}),
        ("read", {"place": f"{folders}/lib/lib.py:1", "group": "backend"}),
        ("usages", {"place": "retry_lib", "group": "backend"}),
        ("outline", {"group": "backend"}),
        ("search", {"query": "retry a request"}),
        ("status", {}),
    ]
    found, read, usages, outline, own, status = texts(
        ask(engine, folders / "api", *calls, groups=["backend"])
    )
    assert "\napi.py:1-3 retry_api\n" in found
    assert f"\n{folders}/lib/lib.py:1-3 retry_lib\n" in found
    assert "return lib" in read
    assert f"\n{folders}/lib/lib.py:1  retry_lib" in usages
    assert f"{folders}/lib\n" in outline and "def retry_lib" in outline
    assert "retry_lib" not in own
    assert status.endswith(f"group backend: {folders}/api, {folders}/lib\n")


def shown(results: Iterable[Any]) -> set[str]:
    """Return which of the functions some answers show: their places, signatures or code."""
    found = "\n".join(texts(results))
    return {
        name
        for name in ("api", "lib", "web", "secret")
        if any(
            text in found
            for text in (f"retry_{name}()", f"def retry_{name}", f"return {name}", f"/{name}.py")
        )
    }


def test_an_agent_reaches_nothing_but_its_project_and_the_allowed_groups(engine, folders):
    """All folders are indexed, and the user has more groups than the server may search."""
    index_all(engine, folders)
    everywhere: list[dict[str, object]] = [{}, *({"group": name} for name in ("backend", "web", "some", "x"))]
    named = [
        {"place": place, **where}
        for place in "retry_secret secret.py::retry_secret retry_lib retry_web retry_api api.py".split()
        for where in everywhere
    ]
    patterns = [
        {"query": "retry_secret", "path": path, **where}
        for path in ("*", "../mono/*", f"{folders}/*")
        for where in everywhere
    ]
    calls = [(tool, values) for tool in ("read", "usages", "outline") for values in named]
    calls += [("search", values) for values in patterns] + [("outline", where) for where in everywhere]
    api, mono = folders / "api", folders / "mono/web"
    assert shown(ask(engine, api, *calls)) == {"api"}
    assert shown(ask(engine, api, *calls, groups=["backend"])) == {"api", "lib"}
    assert shown(ask(engine, mono, *calls, groups=["web"])) == {"lib", "web"}
    whole = [
        (tool, {"place": f"{place}:1", **where})
        for tool in ("read", "usages", "outline")
        for place in (f"{folders}/mono/secret/secret.py", "../secret/secret.py", "../mono/secret/secret.py")
        for where in everywhere
    ]
    for groups in ([], ["backend"], ["web"]):
        for project in (api, mono):
            assert all(result.is_error for result in ask(engine, project, *whole, groups=groups))


def test_a_group_that_is_not_allowed_is_refused_in_one_line(engine, folders):
    (refused,) = ask(engine, folders / "api", ("search", {"query": "x", "group": "web"}), groups=["backend"])
    assert refused.content[0].text == "group 'web': choose one of backend"
    (refused,) = ask(engine, folders / "api", ("search", {"query": "x", "group": "web"}))
    assert refused.content[0].text.startswith("search has no argument 'group': choose from query, path, ")


def test_settings_that_change_while_a_server_runs_widen_nothing(engine, folders):
    """The folders are those of the start, because an agent may write files."""
    import anyio
    from mcp import Client

    from codesearch.agents.server import make_server

    index_all(engine, folders)

    async def session() -> str:
        server = make_server(engine, folders / "api", folders / "api", groups={"web": user_groups()["web"]})
        async with Client(server) as client:
            write_groups(folders, web=("mono/secret",))
            called = await client.call_tool("search", {"query": "retry a request", "group": "web"})
            return called.content[0].text

    text = anyio.run(session)
    assert "retry_secret" not in text and "retry_web" in text


def test_a_server_starts_only_with_known_groups_and_setup_writes_them(command, folders):
    said = command.fails("mcp", "--group", "nope")
    assert said.startswith("error: no group 'nope' (known: backend, web, some): ")
    printed = command("mcp", "--setup", "cursor", "--group", "backend", "--group", "web").stdout
    entry = json.loads(printed)["mcpServers"]["codesearch"]
    assert entry["args"][-5:] == ["mcp", "--group", "backend", "--group", "web"]
