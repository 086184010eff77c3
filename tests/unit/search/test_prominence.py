"""Public definitions that say what they do, and whose names are used, rank above helpers with the same words."""

from collections.abc import Callable
from pathlib import Path

import pytest

from codesearch.config import RankConfig
from codesearch.search.request import SearchRequest
from codesearch.search.searcher import Searcher
from codesearch.store.segments import IndexReader
from codesearch.types import Hit
from tests.conftest import search, write_tree

IndexTree = Callable[[Path], IndexReader]
_PYTHON = 'def {name}():\n    """Send a mail."""\n    return {body}\n'


def hits(index: IndexReader, query: str, config: RankConfig | None = None) -> list[Hit]:
    return search(Searcher([index], None, config), query, 10, mode="lexical")


@pytest.mark.parametrize(
    ("path", "code", "is_public"),
    [
        ("a.py", _PYTHON.format(name="send_mail", body=1), True),
        ("a.py", _PYTHON.format(name="_send_mail", body=1), False),
        ("internal/a.py", _PYTHON.format(name="send_mail", body=1), False),
        ("a.cpp", "struct Mail {\n  // Send a mail.\n  ~Mail() { close(); }\n};\n", False),
        ("a.cpp", "namespace detail {\n// Send a mail.\nint send_mail() { return 1; }\n}\n", False),
        ("_impl/a.py", _PYTHON.format(name="send_mail", body=1), False),
        ("tests/a.py", _PYTHON.format(name="send_mail", body=1), False),
        ("a.go", "package a\n\n// Send a mail.\nfunc SendMail() int {\n\treturn 1\n}\n", True),
        ("a.go", "package a\n\n// Send a mail.\nfunc (m *Mail) SendMail() int {\n\treturn 1\n}\n", True),
        ("a.go", "package a\n\n// Send a mail.\nfunc sendMail() int {\n\treturn 1\n}\n", False),
        ("a.rs", "/// Send a mail.\npub fn send_mail() -> u8 {\n    1\n}\n", True),
        ("a.rs", "/// Send a mail.\npub(crate) fn send_mail() -> u8 {\n    1\n}\n", False),
        ("A.java", "class A {\n    /** Send a mail. */\n    public int sendMail() { return 1; }\n}\n", True),
        ("A.java", "class A {\n    /** Send a mail. */\n    int sendMail() { return 1; }\n}\n", False),
        ("a.c", "/* Send a mail. */\nint send_mail(void) {\n    return 1;\n}\n", True),
        ("a.h", "/* Send a mail. */\nstatic inline int send_mail(void) {\n    return 1;\n}\n", True),
        ("a.c", "/* Send a mail. */\nstatic int send_mail(void) {\n    return 1;\n}\n", False),
        (
            "a.php",
            "<?php class A {\n/** Send a mail. */\nprivate function sendMail() { return 1; }\n}\n",
            False,
        ),
    ],
)
def test_the_summary_of_what_is_not_public_counts_nothing(index_of, path, code, is_public):
    index = index_of({path: code})
    found = next(hit for hit in hits(index, "send a mail") if "mail" in hit.name.lower())
    assert found.docstring == "Send a mail."
    assert found.signals["summary"] == float(is_public)


def test_the_summary_counts_the_share_of_the_query(index_of):
    code = 'def send_mail():\n    """Send a mail. Attach the files."""\n    return 1\n'
    index = index_of({"a.py": code})
    (found,) = hits(index, "send the mail, attach")
    assert found.signals["summary"] == pytest.approx(2 / 3)
    assert found.parts["summary"] == pytest.approx(2 / 3 * RankConfig().summary_weight)


def test_of_two_alike_the_one_whose_name_is_used_is_first(index_of):
    tree = {
        "a.py": _PYTHON.format(name="mail_send", body=1),
        "b.py": _PYTHON.format(name="post_mail", body=1),
        "c.py": "def one():\n    post_mail()\n\n\ndef two():\n    post_mail()\n",
    }
    index = index_of(tree)
    found = {hit.name: hit.signals["uses"] for hit in hits(index, "send a mail")}
    assert found["mail_send"] == 0 < found["post_mail"]


@pytest.mark.parametrize(
    ("path", "other", "is_used"),
    [
        ("mail.py", "import mail\n\nmail.send()\n", True),
        ("mail/__init__.py", "from mail import send\n", True),
        ("mail.py", "# Workers send and receive.\nwork()\n", False),
        ("mail/post.go", "package web\n\nfunc Run() {\n\tmail.Send()\n}\n", True),
    ],
)
def test_a_name_of_one_word_is_used_with_what_is_around_it(tmp_path, index_tree, path, other, is_used):
    code = _PYTHON.format(name="send", body=1)
    if path.endswith(".go"):
        code, other_path = "package mail\n\n// Send a mail.\nfunc Send() int {\n\treturn 1\n}\n", "web/run.go"
    else:
        other_path = "run.py"
    # Longer names with this word are other definitions.
    names = [f"send_{what}" for what in ("one", "two", "three")]
    others = "".join(_PYTHON.format(name=name, body=2) for name in names)
    tree = {path: code, other_path: other, "others.py": others, "users.py": f"print({', '.join(names)})\n"}
    index = index_tree(write_tree(tmp_path / "tree", tree))
    found = next(hit for hit in hits(index, "send a mail") if hit.name.lower() == "send")
    assert (found.signals["uses"] > 0) == is_used


def test_names_count_less_among_files_that_hardly_use_each_other(tmp_path, index_tree):
    alone = {f"{at}.py": _PYTHON.format(name=f"send_mail_{at}", body=1) for at in "ab"}
    tree = {**alone, "used.py": _PYTHON.format(name="post_mail", body=1), "user.py": "post_mail()\n"}
    pool = index_tree(write_tree(tmp_path / "pool", tree))
    project = index_tree(write_tree(tmp_path / "tree", {**tree, "users.py": "send_mail_a\n"}))
    of_pool, of_project = (
        next(hit for hit in hits(index, "send a mail") if hit.name == "post_mail")
        for index in (pool, project)
    )
    # Other files use one of three names, and two of three.
    assert of_pool.signals["uses"] == pytest.approx(of_project.signals["uses"] * (1 / 3 - 0.3) / 0.1)


def test_uses_are_the_same_after_an_update(tmp_path, index_tree):
    uses = "def one():\n    send_mail()\n"
    root = write_tree(tmp_path / "tree", {"a.py": _PYTHON.format(name="send_mail", body=1), "b.py": uses})
    index_tree(root)
    write_tree(root, {"b.py": uses.replace("send_mail", "other"), "c.py": uses, "d.py": uses})
    updated = {hit.name: hit.signals["uses"] for hit in hits(index_tree(root), "send a mail")}
    fresh = write_tree(tmp_path / "fresh", {path.name: path.read_text() for path in root.iterdir()})
    assert updated == {hit.name: hit.signals["uses"] for hit in hits(index_tree(fresh), "send a mail")}
    assert updated["send_mail"] > 0


def test_a_long_query_counts_uses_less(index_of):
    tree = {"a.py": _PYTHON.format(name="send_mail", body=1), "b.py": "def one():\n    send_mail()\n"}
    index = index_of(tree)
    short, long = (hits(index, query)[0] for query in ("send mail", "send mail with other words"))
    assert (short.name, long.name) == ("send_mail", "send_mail")
    assert 0 < long.signals["uses"] == pytest.approx(short.signals["uses"] * (3.5 / 4) ** 6)


@pytest.mark.parametrize(
    ("query", "first"), [("read settings file", "load"), ("write settings file", "save")]
)
def test_a_name_that_does_the_opposite_is_below(index_of, query, first):
    code = "".join(
        f"def {verb}_settings_file(path):\n    return {verb}(path, 'read', 'write')\n"
        for verb in ("save", "load")
    )
    found = hits(index_of({"a.py": code}), query)
    opposites = {hit.name.partition("_")[0]: hit.signals["opposite"] for hit in found}
    assert opposites == {first: 0, ({"save", "load"} - {first}).pop(): -1}
    assert found[0].name.startswith(first)


def test_a_definition_that_the_query_describes_is_first(index_of):
    tree = {
        "mail/send.py": "".join(
            _PYTHON.format(name=f"send_mail_queue{number}", body=1) for number in range(4)
        ),
        "x.py": 'def _helper():\n    """Send a mail to each subscriber."""\n    return 1\n',
    }
    index = index_of(tree)
    request = SearchRequest("send mail to each subscriber", 1, mode="lexical", by_file=True)
    (found,) = Searcher([index], None).answer(request).hits
    assert (found.name, found.signals["verbatim"]) == ("_helper", 1)


def test_of_copies_the_one_whose_path_has_words_of_the_query_is_shown(index_of):
    code = "def create_server(port):\n    server = Server(port)\n    return server\n"
    index = index_of({"a/https.py": code, "b/http.py": code})
    for query, path in (("create http server", "b/http.py"), ("create https server", "a/https.py")):
        (found,) = hits(index, query)
        assert (found.path, found.copy_count) == (path, 1)


def test_examples_are_lower_unless_the_query_asks_for_them(index_of):
    tree = {
        f"{folder}/a.py": _PYTHON.format(name="send_mail", body=f'"{folder}"')
        for folder in ("lib", "examples")
    }
    index = index_of(tree)
    penalty = RankConfig().aside_penalty
    for query, lowered in (("send a mail", -penalty), ("example that sends a mail", 0)):
        parts = {hit.path: hit.parts.get("aside", 0) for hit in hits(index, query) if hit.name == "send_mail"}
        assert parts == {"lib/a.py": 0, "examples/a.py": pytest.approx(lowered)}


def test_words_of_a_name_that_the_query_lacks_lower_it_less_in_long_queries(index_of):
    code = "".join(_PYTHON.format(name=name, body=1) for name in ("send_mail", "send_mail_to_all_old_users"))
    index = index_of({"a.py": code})
    short, long = (
        {hit.name: hit.signals["extra"] for hit in hits(index, query)}
        for query in ("send mail", "send mail with two lines of text")
    )
    assert short == {"send_mail": 0, "send_mail_to_all_old_users": -1}
    assert long["send_mail_to_all_old_users"] == pytest.approx(-((3.5 / 5) ** 6))
