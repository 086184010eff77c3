"""The output of `git log` -> commits."""

from codesearch.history.table import Change, Commit, parse_log

OLD, NEW, NONE = "a" * 40, "b" * 40, "0" * 40


def header(identifier: str = "c" * 40, time: str = "5", subject: str = "feed", body: str = "") -> bytes:
    return f"\0{identifier}\0{time}\0A <a@b.c>\0{subject}\0{body}\0\n".encode()


def raw(path: str, old: str = OLD, new: str = NEW, modes: str = "100644 100644") -> bytes:
    return f":{modes} {old} {new} M\t{path}\n".encode()


def read(*output: bytes) -> list[Commit]:
    """Return the commits in what git prints."""
    return list(parse_log(b"".join(output).splitlines(keepends=True)))


def test_a_commit_has_its_message_and_files():
    first, second = read(header(body="why\nand how"), b"\n", raw("x.py"), header("d" * 40, body=""))
    assert first == Commit("c" * 40, 5, "A <a@b.c>", "feed", "why\nand how", [Change("x.py", OLD, NEW)])
    assert (second.id, second.changes) == ("d" * 40, [])


def test_new_and_deleted_files_have_no_id_and_links_submodules_and_quoted_paths_are_left_out():
    changes = (
        *(raw("new.py", old=NONE, modes="000000 100644"), raw("gone.py", new=NONE, modes="100644 000000")),
        *(raw("link", modes="120000 120000"), raw("lib", modes="160000 160000"), raw('"a\\nb.py"')),
        raw("was_link.py", modes="120000 100644"),
    )
    (commit,) = read(header(), *changes)
    assert [(one.path, one.old, one.new) for one in commit.changes] == [
        ("new.py", "", NEW),
        ("gone.py", OLD, ""),
    ]


def test_a_huge_message_is_cut_and_the_next_commit_is_read():
    first, second = read(header(body="word\n" * 10_000), header("d" * 40, subject="next"))
    assert 19_000 < len(first.body) < 21_000
    assert second.subject == "next"


def test_bytes_that_are_no_text_and_dates_that_are_none_do_no_harm():
    (commit,) = read(header(time="-7").replace(b"feed", b"fe\xffed"), raw("x").replace(b"\tx", b"\tx\xff"))
    assert (commit.time, commit.subject, commit.changes[0].path) == (0, "fe\ufffded", "x\udcff")


def test_output_before_the_first_commit_is_skipped():
    assert read(raw("x.py"), b"warning\n") == []


def test_a_thousand_changes_count():
    (commit,) = read(header(), *(raw(f"{number}.py") for number in range(1_500)))
    assert len(commit.changes) == 1_000
