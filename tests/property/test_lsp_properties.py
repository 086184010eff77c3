"""Whatever an editor sends, each request is answered once, never with an internal error, and the next one is right."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.command import TIMEOUT
from tests.conftest import write_tree
from tests.lsp import Editor, opened

pytest.importorskip("pygls")

FILES = {
    "pyproject.toml": "",
    "a.py": "from b import beta\n\n\ndef alpha():\n    return beta('😀') + beta(1)\n",
    "b.py": "class Base:\n    def beta(self):\n        pass\n\n\ndef beta(x):\n    return Base().beta()\n",
    "c.ts": "import h from './d';\nexport { h as other };\nother();\n",
    "d.ts": "export default function helper() {}\n",
}
REQUESTS = (
    *("definition", "implementation", "references", "documentHighlight", "hover", "prepareCallHierarchy"),
    "documentSymbol",
)
INTERNAL_ERROR = -32603


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    with opened(tmp_path_factory.mktemp("lsp"), FILES) as editor:
        yield editor


PATHS = st.sampled_from([*FILES, "new.py", "gone.py", "e\u0301.py", "x.unknown", "folder/"])
NUMBERS = st.one_of(st.integers(0, 60), st.sampled_from([2**31 - 1]))
PIECES = st.sampled_from(
    [
        *FILES.values(),
        "beta",
        "(",
        "\r",
        "\r\n",
        "\n",
        "\x0c",
        "\u2028",
        "😀",
        "e\u0301",
        "\ufeff",
        "\0",
        '"""',
        "def ",
    ]
)
TEXTS = st.lists(PIECES, max_size=8).map("".join)
POSITIONS = st.fixed_dictionaries({"line": NUMBERS, "character": NUMBERS})
ASKED = st.tuples(st.just("ask"), PATHS, st.sampled_from(REQUESTS), POSITIONS)
CHANGED = st.tuples(st.sampled_from(["open", "change", "close"]), PATHS, TEXTS)


@settings(max_examples=max(settings().max_examples // 2, 20), deadline=None)
@given(st.lists(ASKED | CHANGED, min_size=1, max_size=12))
def test_every_request_is_answered(editor, steps):
    opened = set()
    for step in steps:
        kind, path, *rest = step
        if kind == "ask":
            request, position = rest
            where = {"textDocument": {"uri": editor.uri(path)}, "position": position}
            answer = editor.ask(f"textDocument/{request}", **where, context={"includeDeclaration": True})
            assert not (isinstance(answer, dict) and answer.get("code") == INTERNAL_ERROR), (answer, steps)
            if request == "prepareCallHierarchy" and isinstance(answer, list):
                for way in ("incoming", "outgoing"):
                    calls = editor.ask(f"callHierarchy/{way}Calls", item=answer[0])
                    assert isinstance(calls, list), (calls, steps)
        elif kind == "open":
            opened.add(path)
            editor.open(path, rest[0])
        elif kind == "change" and path in opened:
            editor.change(path, rest[0])
        elif kind == "close" and path in opened:
            opened.remove(path)
            editor.close(path)
    for path in opened:
        editor.close(path)
    assert editor.place(editor.at("a.py", 4, 12, "definition")[0]) == "b.py 5:4-8"


NAMES = st.sampled_from(
    "textDocument uri position line character context item query text range event".split()
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**40), 2**40), st.text(max_size=8)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)
METHODS = st.sampled_from(
    [
        *(
            f"textDocument/{request}"
            for request in (*REQUESTS, "didOpen", "didChange", "didClose", "didSave")
        ),
        *(
            "workspace/symbol",
            "workspace/didChangeWorkspaceFolders",
            "callHierarchy/incomingCalls",
            "no/such",
        ),
        *("$/cancelRequest", "$/setTrace", "initialized", "window/workDoneProgress/cancel"),
    ]
)


@settings(max_examples=max(settings().max_examples // 2, 20), deadline=None)
@given(METHODS, JSON, st.booleans())
def test_parameters_of_any_form_end_no_session(editor, method, params, is_request):
    message = {"jsonrpc": "2.0", "method": method, "params": params, **({"id": "odd"} if is_request else {})}
    editor.send(json.dumps(message).encode())
    assert editor.place(editor.at("a.py", 4, 12, "definition")[0]) == "b.py 5:4-8"


@pytest.mark.parametrize(
    "end",
    [b"Content-Length: 100", b'Content-Length: 100\r\n\r\n{"jsonrpc": "2.0", "id": 9', b"\xff\xfe\r\n\r\n"],
)
def test_a_session_that_ends_in_a_message_ends_the_server(tmp_path, end):
    root = write_tree(tmp_path / "src", FILES)
    editor = Editor(root, tmp_path / "home")
    editor.process.stdin.write(end)
    editor.process.stdin.close()
    assert editor.process.wait(TIMEOUT) == 0
    editor.process.stdout.close()
