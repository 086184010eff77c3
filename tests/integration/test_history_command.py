"""`codesearch history`: commits by question, by filter and by the definition that they changed."""

import json
import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from codesearch import Engine, Scope
from codesearch.errors import ConfigError, IndexWriteError
from codesearch.history.search import CommitFilters
from codesearch.history.table import read_commits
from tests.command import Command
from tests.conftest import write_tree
from tests.git import git, repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
FIRST = "class Loft:\n    def feed(self, pigeon):\n        return pigeon\n\n    def open(self):\n        return True\n"
BODY = """\
A hungry pigeon asked for grain without end and the
loft ran out of grain on the second day.

Signed-off-by: Keeper <keeper@example.org>
"""


def commit(root: Path, subject: str, body: str = "", author: str = "Keeper <keeper@example.org>") -> None:
    git(root, "add", ".")
    message = f"{subject}\n\n{body}"
    git(root, "commit", "-q", "--allow-empty", "--cleanup=verbatim", f"--author={author}", "-m", message)


def four_commits(root: Path) -> Path:
    """Make a repository with four commits; the second limits the method `feed`."""
    repository(root, {"loft.py": FIRST, "docs.md": "# Loft\n"})
    write_tree(root, {"loft.py": FIRST.replace("return pigeon", "return pigeon[:3]")})
    commit(root, "feed: limit the grain", BODY)
    write_tree(root, {"gate.py": "def shut(gate):\n    return not gate\n"})
    commit(
        root, "gate: a gate that shuts at night", "Hawks come after dusk.", "Night Guard <guard@example.org>"
    )
    write_tree(root, {"docs.md": "# Loft\nOpen it in the morning.\n"})
    commit(root, "docs: when to open")
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return four_commits(tmp_path / "project")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """The command in an indexed repository that tests only read."""
    folder = tmp_path_factory.mktemp("history")
    command = Command(four_commits(folder / "project"), folder / "home")
    command.succeeds("index", ".")
    return command


@pytest.fixture
def command(root: Path, home: Path) -> Command:
    return Command(root, home)


@pytest.fixture
def indexed(command: Command) -> Command:
    command.succeeds("index", ".")
    return command


def subjects(engine: Engine, root: Path, question: str = "", **filters: object) -> list[str]:
    answer = engine.session(Scope((root,))).history(question, filters=CommitFilters(**filters), top_k=50)
    return [hit.subject for hit in answer.hits]


def test_a_question_finds_a_commit_by_its_message_and_shows_what_it_changed(command, root):
    first = command("history", "why", "did the hungry pigeon get less", "-n", "1")
    assert first.stderr == f"indexed 4 commits of {root}\n"
    heading, *lines = first.stdout.splitlines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d  [0-9a-f]{10}  feed: limit the grain  \(Keeper\)", heading)
    assert lines == [
        "    | A hungry pigeon asked for grain without end and the",
        "    | loft ran out of grain on the second day.",
        "    loft.py: Loft.feed",
        "",
        "1 commit of 4",
    ]
    second = command("history", "hawks after dusk", "-n", "1")
    assert second.stderr == "" and "gate: a gate that shuts at night  (Night Guard)" in second.stdout


def test_messages_and_paths_find_a_commit(engine, root):
    assert subjects(engine, root, "loft feed")[0] == "feed: limit the grain"
    assert subjects(engine, root, "docs.md")[0] == "docs: when to open"


def test_only_new_commits_are_added_and_an_amended_one_is_dropped(engine, root, tmp_path):
    assert engine.session(Scope((root,))).history("gate").added == 4
    git(root, "commit", "-q", "--amend", "-m", "docs: morning hours")
    write_tree(root, {"gate.py": "def shut(gate):\n    return None\n"})
    commit(root, "gate: say nothing")
    answer = engine.session(Scope((root,))).history("gate of the loft in the morning", top_k=50)
    assert (answer.added, answer.commits) == (2, 5)
    assert "docs: when to open" not in [hit.subject for hit in answer.hits]
    fresh = Engine(tmp_path / "other", device="cpu")
    again = fresh.session(Scope((root,))).history("gate of the loft in the morning", top_k=50)
    fresh.close()
    assert [(hit.id, hit.score) for hit in answer.hits] == [(hit.id, hit.score) for hit in again.hits]


def test_work_trees_share_one_index_and_each_sees_its_own_branch(engine, root, home, tmp_path):
    git(root, "worktree", "add", "-q", "-b", "side", tmp_path / "side")
    write_tree(tmp_path / "side", {"mail.py": "def send(letter): pass\n"})
    commit(tmp_path / "side", "mail: pigeons carry letters")
    assert "mail: pigeons carry letters" not in subjects(engine, root, "letters pigeon")
    assert subjects(engine, tmp_path / "side", "letters pigeon")[0] == "mail: pigeons carry letters"
    assert "mail: pigeons carry letters" not in subjects(engine, root, "letters pigeon")
    assert [path.name.rpartition("-")[0] for path in (home / "commits").iterdir()] == ["project"]


def test_filters_and_the_newest_commits(engine, root):
    assert subjects(engine, root, author="NIGHT g") == ["gate: a gate that shuts at night"]
    assert subjects(engine, root, "hawks pigeon", author="guard@") == ["gate: a gate that shuts at night"]
    assert subjects(engine, root, paths=("*.md",)) == ["docs: when to open"]
    assert set(subjects(engine, root, since="2 days")) >= {"docs: when to open", "feed: limit the grain"}
    assert subjects(engine, root, since="9998") == []


@pytest.mark.parametrize("since", ["gestern", "2024-13", "2024-02-30", "3 moons", "20240131", "99999 days"])
def test_a_date_that_is_none_is_an_error(engine, root, since):
    with pytest.raises(ConfigError, match="--since .*: give a date, such as 2024-05-31"):
        subjects(engine, root, since=since)


@pytest.mark.parametrize("place", ["loft.py:2", "loft.py:3", "loft.py::Loft.feed", "loft.py::feed"])
def test_the_commits_of_a_definition_are_listed_newest_first(shared, place):
    found = shared("history", place, "-n", "5").stdout
    assert [line[24:] for line in found.splitlines() if line[:2] == "20"] == [
        "feed: limit the grain  (Keeper)",
        "first  (a)",
    ]
    shown = place if "Loft.feed" in place else f"Loft.feed ({place})"
    assert found.endswith(f"2 commits of 2 that changed {shown}\n")


@pytest.mark.parametrize("name", ["Loft.feed", "Loft#feed"])
def test_a_qualified_name_is_a_definition(shared, name):
    assert "2 commits of 2 that changed " in shared("history", name).stdout
    asked = shared("history", name, "hungry pigeon", "-n", "1").stdout
    assert "A hungry pigeon" in asked and "1 commit of 2 that changed" in asked


def test_a_name_is_a_definition_only_in_its_own_case(shared):
    assert shared("history", "Loft").stdout.endswith("2 commits of 2 that changed Loft\n")
    for question in ("feed", "Feed", "limit"):
        done = shared("history", question)
        assert done.stdout.endswith("1 commit of 4\n") and "note: " not in done.stderr
    missing = shared("history", "Loft.fed")
    assert "note: Loft.fed does not exist: it is searched for as words\n" in missing.stderr


def test_the_history_of_a_file_goes_on_before_it_was_renamed(indexed, root):
    git(root, "mv", "loft.py", "attic.py")
    for place in ("attic.py", "attic.py::Loft.feed"):
        found = indexed("history", place).stdout
        assert "feed: limit the grain" in found and "2 commits of 2 that changed " in found
    commit(root, "rename the loft")
    found = indexed("history", "attic.py").stdout
    assert found.count("\n\n20") == 2 and found.endswith("3 commits of 3 that changed attic.py\n")
    write_tree(root, {"new.py": "x = 1\n"})
    assert indexed("history", "new.py").stdout == "no commits that changed new.py\n"


def test_commits_of_one_text_are_all_counted(engine, root):
    for _ in range(3):
        commit(root, "bump the version")
    answer = engine.session(Scope((root,))).history("version")
    assert answer.added == answer.commits == 7


def test_a_question_ranks_the_commits_of_a_place(shared):
    found = shared("history", "loft.py::Loft", "hungry pigeon", "--json")
    answer = json.loads(found.stdout)
    assert [hit["subject"] for hit in answer["hits"]] == ["feed: limit the grain", "first"]
    assert answer["hits"][0]["score"] > answer["hits"][1]["score"]
    assert answer["hits"][0]["definitions"] == [
        {"path": "loft.py", "name": "Loft.feed", "kind": "method", "line": 2, "removed": False}
    ]


def test_files_and_folders_are_places_too(shared):
    assert "docs: when to open" in shared("history", "docs.md").stdout
    assert shared("history", "./").stdout.endswith("4 commits of 4 that changed ./\n")


def test_lines_are_those_of_the_last_commit_when_the_file_has_changed(indexed, root):
    write_tree(root, {"loft.py": "# new\n" * 9 + (root / "loft.py").read_text()})
    found = indexed("history", "loft.py:11")
    assert "feed: limit the grain" in found.stdout and "loft.py: Loft.feed" in found.stdout
    write_tree(root, {"loft.py": "def hatch(egg):\n    return egg\n"})
    fresh = indexed("history", "loft.py::hatch")
    assert (fresh.returncode, fresh.stderr.splitlines()[-1]) == (
        2,
        "error: hatch of loft.py is not in the last commit: commit it first",
    )
    write_tree(root, {"egg.py": "def warm(egg): pass\n"})
    new = indexed("history", "egg.py::warm")
    assert new.stderr.splitlines()[-1] == "error: egg.py is not in the last commit: commit it first"


def test_a_name_of_several_definitions_shows_the_commits_of_each(indexed, root):
    write_tree(root, {"a/x.py": "def is_open(): pass\n", "b/x.py": "def is_open(): return 1\n"})
    git(root, "add", ".")
    commit(root, "gate: say whether it is open")
    done = indexed("history", "is_open")  # The index knows neither yet.
    last = [line for line in done.stdout.splitlines() if " that changed " in line]
    assert last == [f"1 commit of 1 that changed is_open ({folder}/x.py:1)" for folder in "ab"]
    assert done.returncode == 0


def test_a_place_with_several_definitions_is_an_error_that_lists_them(indexed, root):
    write_tree(root, {"a/x.py": "def same(): pass\n", "b/x.py": "def same(): pass\n"})
    indexed.succeeds("index", ".")
    assert indexed("history", "x.py::same").stderr.splitlines()[-1] == (
        "error: x.py::same names 2 places: give one of them: a/x.py:1 (same), b/x.py:1 (same)"
    )


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ([], "history of what? Give a question or a place"),
        (["???"], "query '???' has no words to search for"),
        (["grain", "--root", "none"], "none is not a folder: give --root an existing folder"),
        (["loft.py:900-950"], "loft.py has 6 lines: give one of them"),
        (
            ["none.py:3"],
            "none.py is not in the index: give the path of a file in it (not seen: 1 file that --content would add)",
        ),
    ],
)
def test_mistakes_are_one_line(shared, words, error):
    assert shared.fails("history", *words).splitlines()[-1] == f"error: {error}"


def test_a_folder_without_repository_or_commits_is_an_error(tmp_path, home):
    (tmp_path / "empty").mkdir()
    outside = Command(tmp_path / "empty", home)("history", "pigeon")
    assert (outside.returncode, outside.stderr) == (
        2,
        f"error: {tmp_path / 'empty'} is in no git repository: there are no commits to search\n",
    )
    git(tmp_path / "empty", "init", "-q")
    bare = Command(tmp_path / "empty", home)("history", "pigeon")
    assert (
        bare.stderr == f"error: {tmp_path / 'empty'} has no commits: `codesearch history` searches commits\n"
    )
    (tmp_path / "empty/.git/HEAD").write_text("nonsense\n")
    broken = Command(tmp_path / "empty", home)("history", "pigeon")
    assert broken.returncode == 2 and broken.stderr.startswith(f"error: git failed in {tmp_path / 'empty'}: ")
    assert broken.stderr.count("\n") == 1


def test_a_missing_file_is_searched_for_as_words_with_a_note(shared):
    note = "note: gone.py does not exist: it is searched for as words\n"
    assert note in shared("history", "gone.py").stderr
    assert shared("history", "why is gone.py").stderr == ""


def test_no_hits_have_code_1(shared):
    done = shared("history", "--author", "nobody", "pigeon")
    assert (done.returncode, done.stdout) == (1, "no commits of 4\n")


def test_a_shallow_clone_has_its_commits_and_a_note_and_the_others_after_a_fetch(
    engine, root, home, tmp_path
):
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{root}", "clone")
    done = Command(tmp_path / "clone", home)("history", "gate")
    assert "1 commit of 2\n" in done.stdout
    assert "is a shallow clone, so older commits are missing: run `git -C " in done.stderr
    git(tmp_path / "clone", "fetch", "-q", "--unshallow")
    answer = engine.session(Scope((tmp_path / "clone",))).history("pigeon grain")
    assert (answer.commits, answer.shallow, answer.hits[0].subject) == (4, False, "feed: limit the grain")


def test_a_clone_without_contents_is_searched_by_messages_and_paths(engine, root, tmp_path):
    git(root, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{root}", "clone")
    answer = engine.session(Scope((tmp_path / "clone",))).history("pigeon grain", top_k=1)
    assert [(hit.subject, hit.paths, hit.definitions) for hit in answer.hits] == [
        ("feed: limit the grain", ("loft.py",), ())
    ]


def test_merges_are_found_only_if_their_message_says_more(engine, root):
    for number, body in enumerate(("", "A nest keeps the eggs of two pigeons warm.")):
        git(root, "checkout", "-q", "-b", f"nest{number}", "HEAD~1")
        write_tree(root, {f"nest{number}.py": "x = 1\n"})
        commit(root, "nests")
        git(root, "checkout", "-q", "main")
        git(root, "merge", "-q", "--no-ff", "-m", f"Merge branch 'nest{number}'\n\n{body}", f"nest{number}")
    answer = engine.session(Scope((root,))).history("nest eggs warm")
    assert answer.added == answer.commits == 7
    assert "Merge branch 'nest1'" in subjects(engine, root, "nest eggs warm")
    assert "Merge branch 'nest0'" not in subjects(engine, root, "nest eggs warm")


def test_remove_deletes_the_index_of_commits_with_all_others(engine, root, home, command):
    engine.index(root)
    engine.session(Scope((root,))).history("pigeon")
    assert list((home / "commits").iterdir())
    command.succeeds("remove", "--all")
    assert not (home / "commits").exists()


def test_an_index_of_commits_is_no_index_of_files(engine, root):
    engine.session(Scope((root,))).history("pigeon")
    assert engine.status() == []


def test_a_repository_with_sha256_has_a_history(engine, tmp_path):
    root = write_tree(tmp_path / "sha256", {"loft.py": FIRST})
    git(root, "init", "-q", "--object-format=sha256")
    commit(root, "open the loft")
    write_tree(root, {"loft.py": FIRST.replace("True", "False")})
    commit(root, "close the loft")
    (hit, _) = engine.session(Scope((root,))).history("close loft").hits
    assert (len(hit.id), [one.name for one in hit.definitions]) == (64, ["Loft.open"])


@pytest.mark.skipif(os.name == "nt", reason="the commands are of a POSIX shell")
def test_no_command_of_the_repository_runs(engine, root, tmp_path):
    engine.index(root)
    trap = f"touch {tmp_path / 'ran'}; cat"
    write_tree(root, {".gitattributes": "* diff=x filter=x\n"})
    commit(root, "attributes")
    keys = (
        *"diff.external diff.x.command diff.x.textconv filter.x.smudge core.fsmonitor core.pager".split(),
        *("pager.log", "gpg.program", "gpg.ssh.program", "core.sshCommand", "core.alternateRefsCommand"),
    )
    for key in keys:
        git(root, "config", key, trap)
    for key in ("log.showSignature", "color.ui", "diff.mnemonicPrefix", "log.follow", "diff.noprefix"):
        git(root, "config", key, "always" if key == "color.ui" else "true")
    answer = engine.session(Scope((root,))).history("hungry pigeon", top_k=1)
    assert [one.name for one in answer.hits[0].definitions] == ["Loft.feed"]
    assert (
        engine.session(Scope((root,))).history(place="loft.py::feed").hits[0].subject
        == "feed: limit the grain"
    )
    assert not (tmp_path / "ran").exists()


def test_text_of_commits_reaches_the_terminal_only_as_visible_characters(root, home):
    from tests.faults.test_terminal_escapes import FORBIDDEN, TEXT

    write_tree(root, {"wing.py": "def flap(): pass\n"})
    commit(root, f"wing {TEXT}", f"A feather {TEXT} fell.", f"Eve {TEXT} <eve@example.org>")
    for words in (
        ("history", "feather fell", "-n", "2"),
        ("history", "feather", "--json"),
        ("history", "wing.py"),
    ):
        done = Command(root, home)(*words, "--auto-index")
        assert "wing" in done.stdout and not FORBIDDEN.search(done.stdout + done.stderr)


def test_a_message_that_looks_like_the_output_of_git_is_only_a_message(engine, root):
    fake = (
        f"{'a' * 40}\n:100644 100644 {'1' * 40} {'2' * 40} M\tstolen.py\n@@ -1 +1 @@ def stolen\nindex 1..2"
    )
    commit(root, "parrot", f"\n{fake}\n")
    answer = engine.session(Scope((root,))).history("parrot", top_k=1)
    assert [(hit.subject, hit.paths, hit.body) for hit in answer.hits] == [("parrot", (), fake)]
    assert answer.commits == 5


def test_absurd_dates_are_shown_as_a_date(engine, root, monkeypatch):
    for date in ("0 +0000", "99999999999999 +0000"):
        made = hash_commit(root, date)
        git(root, "update-ref", "HEAD", made)
    answer = engine.session(Scope((root,))).history("absurd", top_k=2)
    assert sorted(hit.date for hit in answer.hits) == ["1970-01-01", "9999-12-31"]


def hash_commit(root: Path, date: str, subject: str = "absurd date") -> str:
    """Write a commit with a date that git would refuse; return its id."""
    tree, parent = git(root, "rev-parse", "HEAD^{tree}"), git(root, "rev-parse", "HEAD")
    who = f"A <a@b.c> {date}"
    text = f"tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n\n{subject}\n"
    return git(root, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=text.encode())


def test_an_agent_sees_the_commits_of_its_project(engine, root):
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    import anyio
    from mcp import Client

    from codesearch.agents.server import make_server

    write_tree(root, {"api/door.py": "def knock(door): pass\n"})
    commit(root, "knock on the door")

    async def session() -> list[str]:
        async with Client(make_server(engine, root / "api", root)) as client:
            calls = ({"question": "hungry pigeon or knock"}, {"place": "door.py::knock"}, {})
            found = [await client.call_tool("history", values) for values in calls]
            return [one.content[0].text for one in found]

    asked, listed, refused = anyio.run(session)
    assert "knock on the door  (Keeper)\n    api/door.py" in asked and "limit the grain" not in asked
    assert "knock on the door" in listed and listed.endswith("1 commit of 1 that changed door.py::knock\n")
    assert refused.endswith("history of what? Give a question or a place")


def test_a_head_that_git_has_forgotten_is_compared_with_all_commits(engine, root):
    engine.session(Scope((root,))).history("gate")
    git(root, "reset", "-q", "--hard", "HEAD~2")
    git(root, "reflog", "expire", "--expire=now", "--all")
    git(root, "gc", "-q", "--prune=now")
    answer = engine.session(Scope((root,))).history("gate of the loft", top_k=9)
    assert (answer.added, answer.commits) == (0, 2)
    assert set(subjects(engine, root, since="2000")) == {"feed: limit the grain", "first"}


@pytest.mark.parametrize("damage", [b"", b"no database", b"SQLite format 3\0" + bytes(5_000)])
def test_a_damaged_table_of_commits_is_made_again(engine, root, home, damage):
    assert engine.session(Scope((root,))).history("gate").added == 4
    (table,) = home.glob("commits/*/commits.sqlite")
    table.write_bytes(damage)
    answer = engine.session(Scope((root,))).history("hawks")
    assert (answer.added, answer.hits[0].subject) == (4, "gate: a gate that shuts at night")


def test_a_table_of_another_version_is_made_again(engine, root, monkeypatch):
    engine.session(Scope((root,))).history("gate")
    monkeypatch.setattr("codesearch.history.table._VERSION", 1_000)
    answer = engine.session(Scope((root,))).history("hawks")
    assert (answer.added, answer.commits) == (4, 4)


def test_an_update_that_ends_in_the_middle_changes_nothing(engine, root, home, monkeypatch):
    engine.session(Scope((root,))).history("gate")
    (table,) = home.glob("commits/*/commits.sqlite")
    before = table.read_bytes()
    git(root, "commit", "-q", "--amend", "-m", "docs: morning hours")
    commit(root, "gate: it squeaks")

    def interrupted(*arguments, **options):
        yield next(read_commits(*arguments, **options))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("codesearch.history.table.read_commits", interrupted)
        with pytest.raises(KeyboardInterrupt):
            subjects(engine, root, "gate")
    assert table.read_bytes() == before
    assert subjects(engine, root, "squeaks morning") == ["gate: it squeaks", "docs: morning hours"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit of the size of files")
def test_a_full_disk_is_one_line_and_the_table_of_before_stays(engine, root, home):
    import resource

    engine.session(Scope((root,))).history("gate")
    (table,) = home.glob("commits/*/commits.sqlite")
    before = table.read_bytes()
    commit(root, "gate: long", " ".join(f"word{number}" for number in range(3_000)))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before), hard))
    try:
        with pytest.raises(IndexWriteError, match=re.escape(str(table.parent))):
            subjects(engine, root, "gate")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert subjects(engine, root, "word7") == ["gate: long"]


def unread(*_: object) -> object:
    raise AssertionError("it was shown before")


def test_what_is_shown_of_a_commit_is_read_once(engine, root, monkeypatch):
    asked = {"question": "hungry pigeon"}, {"place": "loft.py"}, {"filters": CommitFilters(since="2000")}
    engine.index(root)
    session = engine.session(Scope((root,)))
    session.history("loft", top_k=50)
    first = [session.history(**one, top_k=50).hits for one in asked]
    monkeypatch.setattr("codesearch.history.hits._read_hits", unread)
    assert [session.history(**one, top_k=50).hits for one in asked] == first
    assert [one.name for one in first[0][0].definitions] == ["Loft.feed"]
    monkeypatch.setattr("codesearch.history.hits._parsers", lambda: "others")
    with pytest.raises(AssertionError, match="shown before"):
        session.history("hungry pigeon")


def test_what_is_shown_of_a_commit_that_is_gone_is_deleted(engine, root, home):
    engine.session(Scope((root,))).history("open loft", top_k=50)
    git(root, "commit", "-q", "--amend", "-m", "docs: morning hours")
    subjects(engine, root, "hawks")
    (table,) = home.glob("commits/*/commits.sqlite")
    assert b"when to open" not in table.read_bytes()


def test_what_is_kept_of_a_commit_is_read_again_if_it_is_damaged(engine, root, home):
    first = engine.session(Scope((root,))).history("hungry pigeon").hits
    (table,) = home.glob("commits/*/commits.sqlite")
    for damage in ("'{'", "'{}'", "'[1]'", "x'ff'"):
        with closing(sqlite3.connect(table, isolation_level=None)) as connection:
            connection.execute(f"UPDATE hits SET hit = {damage}")
        assert engine.session(Scope((root,))).history("hungry pigeon").hits == first


def test_definitions_that_could_not_be_read_are_read_with_the_next_answer(engine, root, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("codesearch.history.hits.extract_each", lambda files, _: [None for _ in files])
        (hit,) = engine.session(Scope((root,))).history("hungry pigeon").hits
        assert hit.definitions == ()
    (hit,) = engine.session(Scope((root,))).history("hungry pigeon").hits
    assert [one.name for one in hit.definitions] == ["Loft.feed"]


def test_equal_commits_are_listed_newest_first(engine, root):
    for day in (2, 9, 5):
        made = hash_commit(root, f"20000000{day:02} +0000", "bump the version")
        git(root, "update-ref", "HEAD", made)
    hits = engine.session(Scope((root,))).history("bump the version", top_k=3).hits
    newest = git(root, "log", "-3", "--format=%ct %H").splitlines()
    assert [hit.id for hit in hits] == [line.split()[1] for line in sorted(newest, reverse=True)]
    assert len({hit.score for hit in hits}) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_pipes_that_git_would_read_do_not_stop_the_answer(engine, root):
    os.mkfifo(root / ".mailmap")
    assert subjects(engine, root, "hungry pigeon") == ["feed: limit the grain"]


def test_a_pattern_that_would_keep_git_busy_does_not_stop_the_answer(engine, root):
    (root / ".git/info/attributes").write_text("*.py diff=x\n")
    git(root, "config", "diff.x.xfuncname", "((((((((a{200}){200}){200}){200}){200}){200})))")
    write_tree(root, {"loft.py": FIRST.replace("True", "'" + "a" * 2_000 + "'").replace("pigeon", "dove")})
    commit(root, "loft: doves")
    (hit,) = engine.session(Scope((root,))).history("doves").hits
    assert (hit.subject, hit.paths) == ("loft: doves", ("loft.py",)) and hit.definitions
