"""`codesearch lsp` with a client of pygls: over stdin and stdout, and mostly in this process."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest

from codesearch.build.build import Progress
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from tests.command import ROOT, TIMEOUT, Command, until
from tests.conftest import LONG_FUNCTION, TINY_REPO, write_tree

pytest.importorskip("pygls")
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.io_ import run_async
from pygls.lsp.client import LanguageClient

from codesearch.lsp.folders import Folders
from codesearch.lsp.server import make_server

SMILES = "/* \U0001f600\U0001f600 */ function pushSmile(item) { return item; }\n"
"""Each smile is two code units in UTF-16 and four in UTF-8."""
PRINTING = """
import os, sys
from codesearch.engine.session import Session
search = Session.search
def printing(*arguments):
    print("noise", flush=True)
    os.write(1, b"noise")
    return search(*arguments)
Session.search = printing
from codesearch.cli.entry import run
run()
"""


class Client(LanguageClient):
    """An editor that keeps what the server tells it."""

    def __init__(self, folders: list[Path], *, encodings: list[str] | None) -> None:
        super().__init__("test", "1")
        self.folders, self.encodings = folders, encodings
        self.said: list[str] = []
        self.progress: list[dict[str, Any]] = []
        self.may_begin = asyncio.Event()
        self.may_begin.set()
        self.feature(types.WINDOW_SHOW_MESSAGE)(lambda message: self.said.append(message.message))
        self.feature(types.PROGRESS)(lambda message: self.progress.append(message.value))
        self.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)(self.make_progress())

    async def connect(self, end: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=end)
        self.protocol.set_writer(writer)
        self._async_tasks.append(asyncio.create_task(run_async(self._stop_event, reader, self.protocol)))

    def make_progress(self) -> Callable[[Any], Coroutine[Any, Any, None]]:
        async def make(_: types.WorkDoneProgressCreateParams) -> None:
            await self.may_begin.wait()

        return make

    async def initialize(self) -> types.InitializeResult:
        window = types.WindowClientCapabilities(work_done_progress=True)
        general = types.GeneralClientCapabilities(position_encodings=self.encodings)
        folders = [types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in self.folders]
        capabilities = types.ClientCapabilities(window=window, general=general)
        return await self.initialize_async(
            types.InitializeParams(capabilities, workspace_folders=folders or None)
        )

    async def find(self, query: str) -> list[types.SymbolInformation]:
        return await self.workspace_symbol_async(types.WorkspaceSymbolParams(query))

    async def outline(self, path: Path) -> list[types.DocumentSymbol]:
        document = types.TextDocumentIdentifier(path.as_uri())
        return await self.text_document_document_symbol_async(types.DocumentSymbolParams(document))

    def open(self, path: Path, text: str) -> None:
        document = types.TextDocumentItem(path.as_uri(), "", 1, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(document))

    async def wait_for(self, is_so: Callable[[], object]) -> None:
        async with asyncio.timeout(TIMEOUT):
            while not is_so():
                await asyncio.sleep(0.02)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "src", {"pyproject.toml": "", "web/smile.js": SMILES, **TINY_REPO})


PROCESS = ("-m", "codesearch", "lsp")


@asynccontextmanager
async def connected(*folders, process=(), auto_index=True, encodings=None, may_begin=True, is_open=True):
    """Start a server for folders that are open, in this process or another; at the end, check that it ends."""
    client = Client(list(folders) if is_open else [], encodings=encodings)
    if not may_begin:
        client.may_begin.clear()
    home = folders[0].parent / "home" if is_open else folders[0] / "home"
    if process:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "CODESEARCH_HOME": str(home)}
        await client.start_io(sys.executable, *process, env=environment, cwd=folders[0])
        ended = client._server.wait()
    else:
        ours, theirs = socket.socketpair()
        ended = asyncio.create_task(asyncio.to_thread(serve, home, folders[0], theirs, auto_index))
        await client.connect(ours)
    try:
        async with asyncio.timeout(TIMEOUT):
            await client.initialize()
            client.initialized(types.InitializedParams())
            yield client
            await client.shutdown_async(None)
            client.exit(None)
            await ended
    finally:
        if not process:  # Else a test that fails waits for the thread.
            with suppress(OSError):
                theirs.shutdown(socket.SHUT_RDWR)
    await client.stop()
    if not process:
        client.protocol.writer.close()


def serve(home: Path, here: Path, end: socket.socket, auto_index: bool) -> None:
    with closing(Engine(home)) as engine, end, end.makefile("rb") as asked, end.makefile("wb") as answers:
        server, end_work = make_server(engine, here, auto_index=auto_index, min_confidence=0.0)
        server.start_io(asked, answers)
        end_work()


def place(found: types.SymbolInformation | types.DocumentSymbol) -> str:
    at = found.location.range if isinstance(found, types.SymbolInformation) else found.selection_range
    return f"{found.kind.name} {found.name} {at}"


async def test_a_project_is_indexed_with_progress_and_symbols_are_found_by_meaning(project):
    """What libraries print does not mix with the messages."""
    async with connected(project, process=("-c", PRINTING, "lsp")) as client:
        found = await client.find("put an item on top of the stack")
        assert place(found[0]) == "Method push 16:8-16:12"
        assert found[0].container_name == "Stack"
        assert found[0].location.uri == (project / "python/convert.py").as_uri()
        named = await client.find("int_to_string")
        assert place(named[0]) == "Function int_to_string 3:4-3:17"
        assert named[0].container_name == "python/convert.py"
        assert await client.find(" ") == await client.find("(((") == []
        answer = client.protocol._request_futures["bad"] = Future()
        client.protocol._send_data(
            {"jsonrpc": "2.0", "id": "bad", "method": types.WORKSPACE_SYMBOL, "params": {}}
        )
        with pytest.raises(JsonRpcException) as refused:
            await asyncio.wrap_future(answer)
        assert refused.value.code == types.ErrorCodes.InvalidParams
        assert client.progress[0] == {
            "kind": "begin",
            "title": "Indexing src",
            "cancellable": True,
            "percentage": 0,
        }
        assert client.progress[-1]["kind"] == "end"
        assert client.said == []


async def test_the_outline_is_that_of_the_text_in_the_editor(project):
    async with connected(project, auto_index=False) as client:
        (project / "python/convert.py").unlink()  # The text in the editor is enough.
        client.open(project / "python/convert.py", "\n" + TINY_REPO["python/convert.py"])
        first, *_, stack = await client.outline(project / "python/convert.py")
        assert place(first) == "Function int_to_string 4:4-4:17"
        assert first.detail == "Convert an integer to its decimal string."
        assert (place(stack), str(stack.range)) == ("Class Stack 14:6-14:11", "14:0-23:31")
        assert [place(one) for one in stack.children] == ["Method push 17:8-17:12", "Method pop 21:8-21:11"]
        client.open(project / "notes.md", "# Top\n\nText.\n\n## Part\n\nMore text.\n")
        (top,) = await client.outline(project / "notes.md")
        assert (place(top), str(top.range)) == ("String Top 0:2-0:5", "0:0-6:10")
        assert [place(one) for one in top.children] == ["String Part 4:3-4:7"]
        client.open(
            project / "plain.md", "# No text\n\n## One\n\nText.\n\n## Two\n\nText.\n\n### Deep\n\nText.\n"
        )
        one, two = await client.outline(project / "plain.md")
        assert [one.name, len(one.children), two.name, two.children[0].name] == ["One", 0, "Two", "Deep"]
        client.open(project / "image.png", "text")
        assert await client.outline(project / "image.png") is None
        client.open(project / "tool", "#!/usr/bin/env python3\ndef act():\n    pass\n")
        assert [place(one) for one in await client.outline(project / "tool")] == ["Function act 1:4-1:7"]
        with pytest.raises(JsonRpcException, match=r"src/gone\.py: No such file or directory$"):
            await client.outline(project / "gone.py")


@pytest.mark.parametrize(("encodings", "column"), [(None, 20), (["utf-8"], 24), (["utf-32", "utf-8"], 18)])
async def test_columns_are_in_utf_16_unless_the_editor_prefers_others(project, encodings, column):
    async with connected(project, encodings=encodings) as client:
        expected = f"Function pushSmile 0:{column}-0:{column + 9}"
        assert place((await client.find("pushSmile"))[0]) == expected
        assert [place(one) for one in await client.outline(project / "web/smile.js")] == [expected]


async def test_what_changed_is_indexed_when_a_folder_is_opened_and_when_a_file_is_saved(project):
    engine = Engine(project.parent / "home")
    engine.index(project)
    (project / "python/meanwhile.py").write_text("def divide(a, b):\n    return a / b\n")
    commits = [*engine.indexed_roots().values()]
    async with connected(project) as client:
        await client.wait_for(lambda: [*engine.indexed_roots().values()] != commits)
        commits[:] = engine.indexed_roots().values()
        saved = project / "python/new.py"
        saved.write_text("def multiply(a, b):\n    return a * b\n")
        document = types.TextDocumentIdentifier(saved.as_uri())
        client.text_document_did_save(types.DidSaveTextDocumentParams(document))
        await client.wait_for(lambda: [*engine.indexed_roots().values()] != commits)
        assert client.progress == []
    for query, path in (("divide", "python/meanwhile.py"), ("multiply", "python/new.py")):
        assert engine.search(query, Scope(), refresh=False).hits[0].path == path
    engine.close()


async def test_a_symbol_by_meaning_is_at_its_passage_and_one_by_name_at_its_name(project):
    code = LONG_FUNCTION + "    renew_token(queue)\n" + LONG_FUNCTION.partition("\n")[2]
    write_tree(project, {"long.py": code})
    async with connected(project) as client:
        (row,) = (
            one.location.range.start
            for one in await client.find("renew the token of a queue")
            if one.name == "drain"
        )
        assert 30 < row.line <= 41 and row.character == 4
        assert place((await client.find("drain"))[0]) == "Function drain 0:4-0:9"
        client.open(project / "long.py", "\n" * 100 + code)
        (moved,) = (
            place(one) for one in await client.find("renew the token of a queue") if one.name == "drain"
        )
        assert moved == "Function drain 100:4-100:9"


async def test_names_may_be_typed_in_part_and_nonsense_has_no_symbols(project):
    names = ("Push", "get_server_certificate", "set_action")
    write_tree(project, {"cert.py": "".join(f"def {name}():\n    pass\n\n\n" for name in names)})
    async with connected(project) as client:
        for typed, name in (
            ("get_cer", "get_server_certificate"),
            ("setActi", "set_action"),
            ("Stack.pu", "push"),
            ("int_to", "int_to_string"),
            ("pushsmil", "pushSmile"),
            ("set_aktion", "set_action"),
            ("push", "push"),
        ):
            found = [one.name for one in await client.find(typed)]
            assert found[0] == name, typed
        assert await client.find("asdfqwer") == await client.find("zzz") == []


async def test_each_copy_of_a_definition_is_a_symbol(project):
    (project / "copy.js").write_text(SMILES)
    async with connected(project) as client:
        found = await client.find("pushSmile")
        first, copy = (one for one in found if one.name == "pushSmile")
        assert [place(first), place(copy)] == ["Function pushSmile 0:20-0:29", "Function pushSmile 0:20-0:29"]
        assert {first.location.uri, copy.location.uri} == {
            (project / path).as_uri() for path in ("copy.js", "web/smile.js")
        }


@pytest.mark.parametrize("name", ["a%20b", "c #1?"])
async def test_the_name_of_a_folder_may_have_any_character(project, name):
    folder = project.rename(project.parent / name)
    write_tree(project.parent / "a b", {"go.mod": "", "b.go": "package b\n\nfunc Push() {}\n"})
    async with connected(folder) as client:
        assert (await client.find("push"))[0].location.uri == (folder / "python/convert.py").as_uri()


async def test_without_a_folder_no_index_is_searched(project):
    Engine(project.parent / "home").index(project)
    async with connected(project.parent, is_open=False) as client:
        assert (client.said, await client.find("push")) == ([], [])


async def test_the_least_confidence_of_the_settings_holds(project, monkeypatch):
    monkeypatch.setenv("CODESEARCH_MIN_CONFIDENCE", "1")
    async with connected(project, process=PROCESS) as client:
        assert await client.find("parse the date of a letter") == []


async def test_a_request_that_waits_for_the_first_index_is_cancelled_at_once(project):
    async with connected(project, may_begin=False) as client:
        sent = client.protocol.send_request(
            types.WORKSPACE_SYMBOL, types.WorkspaceSymbolParams("push"), msg_id="first"
        )
        client.cancel_request(types.CancelParams("first"))
        with pytest.raises(JsonRpcException) as cancelled:
            await asyncio.wrap_future(sent)
        assert cancelled.value.code == types.LSPErrorCodes.RequestCancelled
        client.may_begin.set()
        assert (await client.find("push"))[0].name == "push"


async def test_the_user_can_cancel_the_first_index(project, monkeypatch):
    reporter = Folders._reporter

    def held(folders: Folders, token: str) -> Callable[[Progress], None]:
        """Hold the index until the user has cancelled it."""
        report = reporter(folders, token)

        def tell(progress: Progress) -> None:
            until(folders._server.work_done_progress.tokens[token].cancelled)
            report(progress)

        return tell

    monkeypatch.setattr(Folders, "_reporter", held)
    monkeypatch.setattr("codesearch.lsp.folders._CREATE_S", TIMEOUT)
    async with connected(project) as client:
        tokens: list[Any] = []
        client.protocol.fm.features.pop(types.PROGRESS)
        client.feature(types.PROGRESS)(lambda message: tokens.append(message.token))
        await client.wait_for(lambda: tokens)
        client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(tokens[0]))
        await client.wait_for(lambda: client.said)
        cure = f"run `codesearch index {project}`"
        assert client.said == [f"codesearch: indexing was cancelled: {cure}"]


async def test_of_several_folders_those_that_are_indexed_answer(project, tmp_path):
    outside = write_tree(tmp_path / "outside", {"a.py": "def push_outside():\n    pass\n"})
    second = write_tree(tmp_path / "second", {"go.mod": "", "b.go": "package b\n\nfunc PushSecond() {}\n"})
    async with connected(project, outside) as client:
        names = {one.name for one in await client.find("push")}
        assert "push" in names and not names & {"push_outside", "PushSecond"}
        cure = f"run `codesearch index {outside}`"
        assert client.said == [f"codesearch: {outside} is not indexed: {cure}"]
        added = [types.WorkspaceFolder(second.as_uri(), "second")]
        removed = [types.WorkspaceFolder(project.as_uri(), "src")]
        event = types.WorkspaceFoldersChangeEvent(added, removed)
        client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
        assert [one.name for one in await client.find("push")] == ["PushSecond"]


async def test_a_folder_of_an_indexed_project_has_only_its_own_symbols(project):
    async with connected(project / "python") as client:
        found = await client.find("push")
        assert {one.location.uri for one in found} == {(project / "python/convert.py").as_uri()}


async def test_without_an_index_nothing_is_found_and_one_message_says_why(project):
    async with connected(project, process=(*PROCESS, "--no-index")) as client:
        assert await client.find("push") == []
        assert client.said == [f"codesearch: {project} is not indexed: run `codesearch index {project}`"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")
def test_ctrl_c_ends_the_server(tmp_path, home):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CODESEARCH_HOME": str(home)}
    server = Popen(
        [sys.executable, *PROCESS], env=environment, cwd=tmp_path, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}'
    server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    server.stdin.flush()
    assert server.stdout.readline().startswith(b"Content-Length")
    server.send_signal(signal.SIGINT)
    assert (server.wait(TIMEOUT), server.stderr.read()) == (130, b"interrupted\n")
    server.communicate()


def test_the_server_ends_when_its_editor_is_gone(tmp_path, home):
    done = Command(tmp_path, home)("lsp")
    assert (done.returncode, done.stdout) == (0, ""), done
