"""An editor that speaks with `codesearch lsp` in plain messages."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.command import Command
from tests.conftest import index_by_engine, write_tree


class Editor:
    """Starts a server for a folder, asks it, and waits for each answer."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root, self.said, self._count = root, list[str](), 0
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = Command(root, home).start("lsp", **streams)
        started = self.ask("initialize", processId=None, rootUri=root.as_uri(), capabilities={})
        self.capabilities: dict[str, Any] = started["capabilities"]
        self.tell("initialized")

    def send(self, body: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def tell(self, method: str, **params: object) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def ask(self, method: str, **params: object) -> Any:
        """Return the result, or the error, of a request."""
        self._count += 1
        message = {"jsonrpc": "2.0", "id": self._count, "method": method, "params": params}
        self.send(json.dumps(message).encode())
        return self.wait_for(self._count)

    def wait_for(self, number: object) -> Any:
        for message in self.messages():
            if message.get("method") == "window/showMessage":
                self.said.append(message["params"]["message"])
            elif message.get("id") == number and "method" not in message:
                return message["result"] if "result" in message else message["error"]
        raise AssertionError("the server ended")

    def messages(self) -> Iterator[dict[str, Any]]:
        output = self.process.stdout
        while head := output.readline():
            while output.readline().strip():
                pass
            yield json.loads(output.read(int(head.split(b":")[1])))

    def open(self, path: str, text: str | None = None) -> str:
        """Open a file, with a text that is not saved."""
        text = (self.root / path).read_text("utf-8") if text is None else text
        document = {"uri": self.uri(path), "languageId": "", "version": 1, "text": text}
        self.tell("textDocument/didOpen", textDocument=document)
        return text

    def change(self, path: str, text: str) -> None:
        document = {"uri": self.uri(path), "version": 2}
        self.tell("textDocument/didChange", textDocument=document, contentChanges=[{"text": text}])

    def close(self, path: str) -> None:
        self.tell("textDocument/didClose", textDocument={"uri": self.uri(path)})

    def at(self, path: str, line: int, character: int, request: str, **more: object) -> Any:
        position = {"line": line, "character": character}
        return self.ask(
            f"textDocument/{request}", textDocument={"uri": self.uri(path)}, position=position, **more
        )

    def uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def place(self, location: dict[str, Any]) -> str:
        """Return a location as "path line:start-end", counted as the protocol does."""
        start, end = location["range"]["start"], location["range"]["end"]
        path = location["uri"].removeprefix(f"{self.root.as_uri()}/")
        return f"{path} {start['line']}:{start['character']}-{end['character']}"

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def opened(folder: Path, files: Mapping[str, str]) -> Iterator[Editor]:
    """Write and index a tree, and lend an editor for it."""
    root = write_tree(folder / "src", files)
    index_by_engine(root, folder / "home")
    editor = Editor(root, folder / "home")
    yield editor
    editor.end()
