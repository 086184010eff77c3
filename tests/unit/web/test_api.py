"""The HTTP API over a small tree."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")

import httpx
from starlette.testclient import TestClient

from codesearch import Engine
from codesearch.search.snippets import marker
from codesearch.web.app import STATIC, Work, make_app
from codesearch.web.site import Guard
from codesearch.web.tokens import token_lines
from tests.command import TIMEOUT
from tests.conftest import write_tree
from tests.git import git, repository

API = "/api/v1/"
BASE = "http://127.0.0.1:7177"
TREE = {
    "copying.py": 'def copy_tree(source):\n    """Copy a directory tree."""\n    return list(source)\n',
    "web/copy.js": "// Copy an object.\nfunction deepCopy(value) {\n  return value;\n}\n",
}


def write_root(folder):
    write_tree(folder, {"secret.py": "def secret():\n    pass\n"})
    return write_tree(folder / "src", TREE)


@pytest.fixture
def root(tmp_path):
    return write_root(tmp_path)


@pytest.fixture
def engine(root, engine):
    engine.index(root)
    return engine


def guarded(engine, work, token=""):
    return Guard(make_app(engine, work), "127.0.0.1", token)


def client_of(engine, token=""):
    return TestClient(guarded(engine, Work(deadline_s=120), token), base_url=BASE)


@pytest.fixture
def client(engine):
    return client_of(engine)


@pytest.fixture(scope="module")
def shared_root(tmp_path_factory):
    """A tree that tests only read, as do the tests with `shared`, its client."""
    return write_root(tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="module")
def shared(shared_root):
    engine = Engine(shared_root.parent / "home", device="cpu")
    engine.index(shared_root)
    yield client_of(engine)
    engine.close()


def test_a_search_has_labels_and_snippets_with_tokens(shared, shared_root):
    answer = shared.get(f"{API}search", params={"q": "copy a directory tree", "limit": 1}).json()
    (hit,) = answer["hits"]
    assert (hit["root"], hit["path"], hit["name"]) == (str(shared_root), "copying.py", "copy_tree")
    assert hit["snippet"][0]["text"] == "def copy_tree(source):"
    assert hit["snippet"][0]["tokens"] == [
        ["keyword", "def"],
        ["text", " "],
        ["function", "copy", True],
        ["function", "_"],
        ["function", "tree", True],
        ["text", "(source):"],
    ]
    assert hit["label"] == ["copy_tree", "(source)"]


def test_a_screen_has_so_many_definitions_and_a_fifth_of_its_rows_has_code(client, engine, root):
    write_tree(root, {f"{n}.py": f"def copy_{n}(): pass\n\n\ndef copy_all_{n}(): pass\n" for n in range(9)})
    engine.index(root)
    hits = client.get(f"{API}search", params={"q": "copy", "screen": 16, "limit": 5}).json()["hits"]
    assert sum(1 + len(hit["others"]) for hit in hits) == 16
    assert [len(hit["snippet"]) for hit in hits][:5] == [2, 1, 1, 0, 0]
    assert {other["label"][1] for hit in hits for other in hit["others"]} == {"()"}


def marked(lines):
    return [token[1] for line in lines for token in line["tokens"] if len(token) == 3]


def test_of_an_exact_text_only_the_same_case_is_marked_also_in_its_file(shared, shared_root):
    assert marked(file_of(shared, shared_root, "web/copy.js", q="Copy", mode="exact").json()["lines"]) == [
        "Copy",
        "Copy",
    ]


def lines_with(client, text, **params):
    answer = client.get(f"{API}lines", params={"q": text, **params})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_lines_with_a_text_have_totals_tokens_and_the_definitions_around_them(shared, shared_root):
    answer = lines_with(shared, "value", limit=1)
    (line,) = answer["lines"]
    assert (line["root"], line["path"], line["line"]) == (str(shared_root), "web/copy.js", 2)
    assert (line["label"], line["inside"]["kind"]) == ("deepCopy", "function")
    assert marked([line]) == ["value"]
    assert (answer["line_count"], answer["file_count"], answer["is_pattern"]) == (2, 1, False)
    assert answer["counts"] == {
        "lang": {"javascript": 2},
        "kind": {"function": 2},
        "root": {str(shared_root): 2},
    }
    assert lines_with(shared, "value", kind="class")["line_count"] == 0


def test_lines_ignore_case_or_match_a_regular_expression_only_if_asked(shared):
    assert lines_with(shared, "DEEP")["lines"] == lines_with(shared, "d..p")["lines"] == []
    assert marked(lines_with(shared, "DEEP", ignore_case="yes")["lines"]) == ["deep"]
    assert marked(lines_with(shared, "D..p", ignore_case="yes", regex="yes")["lines"]) == ["deep"]
    texts = [line["text"] for line in lines_with(shared, r"\s*return \w+;?$", regex="yes")["lines"]]
    assert texts == ["return value;"]


def test_a_bad_regular_expression_is_refused_in_one_line(shared):
    answer = shared.get(f"{API}lines", params={"q": "(a", "regex": "yes"})
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("'(a' is no regular expression: missing )")


def test_a_long_line_is_cut_and_a_short_one_is_not(client, engine, root):
    write_tree(root, {"long.py": f"def long_line():\n    return '{'copy ' * 900}'\n"})
    engine.index(root)
    answer = client.get(f"{API}search", params={"q": "long_line", "limit": 1}).json()
    first, second = answer["hits"][0]["snippet"]
    assert first["text"] == "def long_line():"
    assert len(second["text"]) == 2_001 and second["text"].endswith("…")
    assert "".join(token[1] for token in second["tokens"]) == second["text"]


def test_marks_never_change_the_text_of_a_line():
    text = "def naïve_copy(x): # \U0001f600 copy-copies COPY_copyCopy"
    for query in ("copy", "naïve", "def copies x"):
        (line,) = token_lines(text, "python", 7, [0], marker(query, "hybrid"))
        assert line.line == 7
        assert "".join(token[1] for token in line.tokens) == text
        assert any(len(token) == 3 for token in line.tokens)


def test_php_without_an_opening_tag_is_coloured_and_a_language_without_a_lexer_is_not():
    assert token_lines("return 1;", "php", 1, [0], marker("", "hybrid"))[0].tokens[0] == ("keyword", "return")
    assert token_lines("<?php return 1;", "php", 1, [0], marker("", "hybrid"))[0].tokens[0] == (
        "comment",
        "<?php",
    )
    assert token_lines("return 1;", "shader", 1, [0], marker("", "hybrid"))[0].tokens == [
        ("text", "return 1;")
    ]


def test_filters_limit_a_search(shared):
    found = shared.get(f"{API}search", params={"q": "copy", "lang": "js"}).json()["hits"]
    assert [hit["path"] for hit in found] == ["web/copy.js"]


def file_of(client, root, path="copying.py", **params):
    return client.get(f"{API}file", params={"root": str(root), "path": path, **params})


def test_a_file_has_its_lines_and_definitions(client, root):
    found = file_of(client, root, q="copies").json()
    assert [line["text"] for line in found["lines"]] == TREE["copying.py"].splitlines()
    assert [line["line"] for line in found["lines"]] == [1, 2, 3]
    assert ["function", "copy", True] in found["lines"][0]["tokens"]
    assert (found["path"], found["language"], found["line_count"], found["stale"]) == (
        "copying.py",
        "python",
        3,
        False,
    )
    (one,) = found["definitions"]
    assert (one["name"], one["start_line"], one["last_line"]) == ("copy_tree", 1, 3)
    (root / "copying.py").write_text("# moved\n" + TREE["copying.py"])
    assert file_of(client, root).json()["stale"] is True


def test_an_answer_has_at_most_2000_coloured_lines_and_definitions_of_a_file(client, engine, root):
    texts = [f"def f{number}(): return {number}" for number in range(2_500)]
    write_tree(root, {"many.py": "\r\n".join(texts)})
    engine.index(root)

    def lines(**params):
        return [line["line"] for line in file_of(client, root, "many.py", **params).json()["lines"]]

    assert lines() == list(range(1, 2_501))
    assert lines(last=2_500) == list(range(1, 2_001))
    assert lines(first=2_400) == list(range(2_400, 2_501))
    assert lines(first=2_400, last=2_402) == [2_400, 2_401, 2_402]
    assert lines(first=2_501) == lines(first=5, last=4) == []
    plain = file_of(client, root, "many.py", first=1_999).json()["lines"]
    assert plain[0]["tokens"] == [["plain", texts[1_998]]]
    found = file_of(client, root, "many.py", first=1_999, last=2_500).json()
    assert (found["line_count"], found["definition_count"], len(found["definitions"])) == (
        2_500,
        2_500,
        2_000,
    )
    assert [found["definitions"][at]["start_line"] for at in (0, -1)] == [501, 2_500]
    assert [line["text"] for line in found["lines"]] == texts[1_998:]
    # The file is coloured in parts, and each of them from its own beginning.
    assert all(line["tokens"][0] == ["keyword", "def"] for line in found["lines"])


def test_no_part_of_a_file_that_is_coloured_begins_inside_of_a_string(client, engine, root):
    function = 'def f{}():\n    """Say\n' + 3 * f"    {199 * 'it '}\n" + '    now."""\n'
    write_tree(root, {"strings.py": "".join(function.format(number) for number in range(60))})
    engine.index(root)
    lines = file_of(client, root, "strings.py").json()["lines"]
    assert sum(len(line["text"]) for line in lines) > 100_000
    starts = [line["tokens"][0] for line in lines if line["text"].startswith("def")]
    assert starts == 60 * [["keyword", "def"]]


def test_status_counts_kinds(shared, shared_root):
    (found,) = shared.get(f"{API}status").json()["roots"]
    assert (found["root"], found["kinds"], found["files"]) == (str(shared_root), {"function": 2}, 2)


@pytest.mark.parametrize("path", ["/api/", "/api/v1/nothing", "/api/v2/search"])
def test_an_unknown_path_of_the_api_is_an_error(shared, path):
    done = shared.get(path)
    assert done.status_code == 404
    assert done.json()["error"] == {"message": "Not Found", "cure": "see docs/web.md"}


@pytest.mark.parametrize("path", ["/nothing", "/static/../app.py"])
def test_an_unknown_page_says_so_in_html(shared, path):
    done = shared.get(path)
    assert (done.status_code, done.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no page at this address" in done.text


def test_other_text_of_a_folder_is_read_but_nothing_ignored_hidden_or_secret(client, root):
    texts = {"README.md": "# Copy\n", "docs/conf.toml": "a = 1\n", "build.log.txt": "x\n", ".env": "KEY=1\n"}
    git_texts = {".gitignore": "build*\n", ".github/ci.yml": "a: 1\n", "id_rsa": "KEY\n", "copy.bin": "\0"}
    write_tree(root, {**texts, **git_texts})
    repository(root, {})
    (root / "link.md").symlink_to(root.parent / "secret.py")
    (root / "up").symlink_to(root.parent, target_is_directory=True)
    listed = client.get(f"{API}tree", params={"root": str(root)}).json()
    assert listed == {"folders": ["docs", "web"], "files": ["README.md", "copying.py"]}
    assert client.get(f"{API}tree", params={"root": str(root), "path": "docs"}).json()["files"] == [
        "conf.toml"
    ]
    for path in ("up", "..", "docs/..", ".github", "/etc"):
        assert client.get(f"{API}tree", params={"root": str(root), "path": path}).json()["files"] == []
    answer = file_of(client, root, "README.md").json()
    assert ([line["text"] for line in answer["lines"]], answer["definitions"]) == (["# Copy"], [])
    hidden = tuple("build.log.txt .env .github/ci.yml id_rsa copy.bin link.md up/secret.py docs".split())
    assert {file_of(client, root, path).status_code for path in hidden} == {404}


@pytest.mark.parametrize("path", ["../secret.py", "/etc/passwd", "web/../copying.py", "nothing.py", "web"])
def test_a_path_that_the_index_does_not_list_is_not_read(shared, shared_root, path):
    assert file_of(shared, shared_root, path).status_code == 404
    done = shared.get(f"{API}similar", params={"root": str(shared_root), "path": path, "line": 1})
    assert done.status_code == 404


def test_a_root_that_is_not_indexed_is_not_read(shared, shared_root):
    assert file_of(shared, shared_root.parent, "secret.py").status_code == 404


@pytest.mark.parametrize("make", ["link", "fifo"])
def test_a_file_that_became_a_link_or_a_fifo_is_not_read(client, root, make):
    (root / "copying.py").unlink()
    if make == "link":
        (root / "copying.py").symlink_to(root.parent / "secret.py")
    else:
        os.mkfifo(root / "copying.py")
    assert file_of(client, root).status_code == 404


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("x=1&q=a", "x"),
        ("", "q"),
        ("q=a&limit=0", "limit"),
        ("q=a&limit=%C2%B2", "limit"),
        ("q=%20", "q"),
        ("q=a&q=b", "q"),
        ("q=a%00", "q"),
        ("q=a&kind=nothing", "kind"),
        ("q=a&lang=nothing", "language"),
        ("q=" + "a" * 5000, "q"),
    ],
)
def test_a_wrong_parameter_is_named(shared, query, named):
    done = shared.get(f"{API}search?{query}")
    assert done.status_code == 400
    assert named in done.json()["error"]["message"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example:7177"},
        {"Host": "192.168.0.1:7177"},
        {"Host": "[::1"},
        {"Host": "127.0.0.1.evil.example:7177"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_requests_of_other_sites_are_refused(shared, headers):
    assert shared.get(f"{API}status", headers=headers).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:7177", "localhost:8000", "[::1]:7177"])
def test_requests_of_the_page_itself_are_answered_also_at_a_forwarded_port(shared, host):
    headers = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
    assert shared.get(f"{API}status", headers=headers).status_code == 200


def test_with_a_token_only_clients_that_send_it_are_answered(engine):
    client = client_of(engine, "a-token-of-tests")
    assert client.get(f"{API}status").status_code == 401
    assert client.get(f"{API}status", headers={"Authorization": "Bearer other"}).status_code == 401
    assert client.get(f"{API}status", headers={"Authorization": "Bearer a-token-of-tests"}).status_code == 200
    for path in STATIC.iterdir():  # The page asks for the token.
        assert client.get(f"/{path.name}").status_code == 200, path


def test_only_get_is_allowed(shared):
    assert shared.post(f"{API}status").status_code == shared.post("/").status_code == 405


def test_every_answer_has_the_security_headers(shared):
    for path in ("/", "/file", "/nothing", f"{API}status"):
        headers = shared.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert headers["x-content-type-options"] == "nosniff"


def test_a_folder_lists_what_is_indexed_in_it(shared, shared_root):
    def listed(path):
        found = shared.get(f"{API}tree", params={"root": str(shared_root), "path": path}).json()
        return found["folders"], found["files"]

    assert listed("") == (["web"], ["copying.py"])
    assert listed("web") == listed("web/") == ([], ["copy.js"])
    assert listed("..") == listed("/etc") == listed("we") == ([], [])


def test_usages_have_their_lines_and_definitions_also_in_tests(client, engine, root):
    write_tree(
        root, {"test_copying.py": "from copying import copy_tree\n\n\ndef test_it():\n    copy_tree([])\n"}
    )
    engine.index(root)
    found = client.get(f"{API}usages", params={"root": str(root), "name": "copy_tree"}).json()
    assert [(one["path"], one["line"]) for one in found["usages"]] == [
        ("test_copying.py", 1),
        ("test_copying.py", 5),
    ]
    assert [one["path"] for one in found["definitions"]] == ["copying.py"]
    only_tests = {"root": str(root), "name": "copy_tree", "tests": True}
    listed = client.get(f"{API}usages", params=only_tests).json()["usages"]
    assert [(one["path"], one["line"]) for one in listed] == [("test_copying.py", 5)]
    assert client.get(f"{API}usages", params={"root": str(root.parent), "name": "secret"}).status_code == 404


def test_the_commits_of_a_folder_are_ranked(client, root):
    repository(root, {})
    found = client.get(f"{API}history", params={"root": str(root), "q": "first"}).json()
    assert [(hit["subject"], hit["rank"]) for hit in found["hits"]] == [("first", 1)]
    assert found["top"] == str(root)
    write_tree(root, {"notes.txt": "one", "copying.py": "def copy():\n    return 1\n"})
    git(root, "add", ".")
    git(root, "commit", "-qm", "second")
    (hit, *_) = client.get(f"{API}history", params={"root": str(root), "q": "second"}).json()["hits"]
    lines = client.get(f"{API}diff", params={"root": str(root), "id": hit["id"]}).json()["lines"]
    assert {"diff --git a/copying.py b/copying.py", "+one", "+    return 1"} <= set(lines)
    of_file = {"root": str(root), "id": hit["id"], "path": "copying.py"}
    assert "+one" not in client.get(f"{API}diff", params=of_file).json()["lines"]
    assert client.get(f"{API}diff", params={**of_file, "id": "--output=x"}).status_code == 400
    assert client.get(f"{API}history", params={"root": str(root), "path": "no"}).status_code == 404


def similar_names(client, root, **filters):
    place = {"root": str(root), "path": "copying.py", "line": 1}
    return [hit["name"] for hit in client.get(f"{API}similar", params={**place, **filters}).json()["hits"]]


def test_filters_limit_similar_code(client, engine, root, tmp_path):
    other = write_tree(tmp_path / "other", {"copier.py": "def copy_file(source):\n    return list(source)\n"})
    engine.index(other)
    assert set(similar_names(client, root)) == {"deepCopy", "copy_file"}
    assert similar_names(client, root, filter_root=str(root)) == ["deepCopy"]
    assert similar_names(client, root, filter_path="copier.py") == ["copy_file"]
    assert similar_names(client, root, filter_path="!web/") == ["copy_file"]
    assert similar_names(client, root, lang="js") == ["deepCopy"]
    assert similar_names(client, root, kind="class") == []
    place = {"root": str(root), "path": "copying.py", "line": 1, "filter_root": str(tmp_path)}
    assert client.get(f"{API}similar", params=place).status_code == 404


def statuses(engine, work: Work, count: int, until: Callable[[list[int]], bool]) -> list[int]:
    """Send several requests that the engine never answers; return the statuses once `until` accepts them."""
    never = threading.Event()
    engine.session = lambda scope, policy: never.wait(TIMEOUT)

    async def ask() -> list[int]:
        found: list[int] = []
        transport = httpx.ASGITransport(guarded(engine, work))
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:

            async def one() -> None:
                answer = await client.get(f"{API}search", params={"q": "copy"})
                assert answer.headers["retry-after"] == "1" and answer.json()["error"]["cure"]
                found.append(answer.status_code)

            tasks = [asyncio.create_task(one()) for _ in range(count)]
            async with asyncio.timeout(TIMEOUT):
                while not until(found):
                    await asyncio.sleep(0.01)
            for task in tasks:
                task.cancel()
        return found

    try:
        return asyncio.run(ask())
    finally:
        never.set()


def test_too_many_requests_at_once_get_503(engine):
    assert statuses(engine, Work(threads=2, waiting=3), 9, lambda found: len(found) >= 4) == [503] * 4


def test_a_request_is_answered_only_after_its_place_is_free(engine):
    # Each request runs in an event loop that ends with the answer.
    client = TestClient(guarded(engine, Work(threads=1, waiting=1, deadline_s=120)), base_url=BASE)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # Threads take turns at almost every step.
    try:
        assert {client.get(f"{API}status").status_code for _ in range(50)} == {200}
    finally:
        sys.setswitchinterval(interval)


def test_running_and_waiting_requests_over_the_time_limit_get_504(engine):
    work = Work(threads=1, deadline_s=0.1)
    assert statuses(engine, work, 2, lambda found: len(found) == 2) == [504, 504]
