"""`codesearch duplicates`: same text, the same but for names, and the same in other words."""

import json
import math
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from codesearch import Engine, Policy, Scope
from codesearch.duplicates import cut
from codesearch.errors import ConfigError
from codesearch.store.catalogue import index_folder, writer_lock
from tests.command import Command
from tests.conftest import write_tree
from tests.git import git, repository

TOTAL = """def total_price(items, discount=0):
    total = 0
    for item in items:
        if item.is_open():
            total += item.price() * item.amount()
    return round(total - discount, 2)
"""
COPY = TOTAL.replace("    return", "\n    return")
RENAMED = (
    TOTAL.replace("item", "box")
    .replace("total", "weight")
    .replace("price", "grams")
    .replace("0", "1")
    .replace("2", "3")
)
OTHER_WORDS = """def price_of_all(items, discount=0):
    \"\"\"Return the price of all items, less the discount.\"\"\"
    chosen = [item for item in items if item.is_open()]
    return round(sum(item.price() * item.amount() for item in chosen) - discount, 2)


def something_else(path, encoding):
    with open(path, encoding=encoding) as file:
        lines = file.readlines()
    lines.reverse()
    file.close()
    return lines[:7]
"""
FILES = {
    "shop/cart.py": TOTAL,
    "shop/order.py": COPY,
    "lib/parcel.py": RENAMED,
    "lib/sums.py": OTHER_WORDS,
    "tests/test_cart.py": f"def test_total():\n    assert 1\n\n\n{TOTAL}",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "project", FILES)


@pytest.fixture
def command(root: Path, home: Path) -> Command:
    made = Command(root, home)
    assert made("index", ".").returncode == 0
    return made


@pytest.fixture
def engine(root: Path, engine: Engine) -> Engine:
    engine.index(root)
    return engine


def test_functions_that_do_the_same_are_listed_by_what_they_share(command):
    found = command("duplicates", "--min-lines", "4")
    assert found.returncode == 1
    head, *lines = found.stdout.splitlines()
    assert head.endswith("total_price  6 lines")
    assert [line.split()[:2] for line in lines] == [
        ["same", "text"],
        ["same", "but"],
        ["similar", lines[2].split()[1]],
    ]
    assert [line.split()[-1] for line in lines] == ["total_price", "weight_grams", "price_of_all"]
    assert "something_else" not in found.stdout
    assert found.stderr.startswith("1 group, 3 duplicates with ")
    assert " in 5 functions (" in found.stderr
    assert "note: not seen: 2 functions in tests" in found.stderr


@pytest.mark.parametrize(("same", "count"), [("text", 1), ("renamed", 2), ("meaning", 3)])
def test_results_can_be_cut_to_what_is_alike(command, same, count):
    found = command("duplicates", "--min-lines", "4", "--same", same, "--vimgrep")
    assert len(found.stdout.splitlines()) == count


def test_the_text_shows_five_functions_of_a_group_and_counts_the_others(command, root):
    write_tree(root, {f"lib/copy{number}.py": TOTAL for number in range(7)})
    command.succeeds("index", ".")
    lines = command("duplicates", "--same", "text").stdout.splitlines()
    assert len(lines) == 7 and lines[-1] == "  and 3 more, which --vimgrep lists"
    assert len(command("duplicates", "--same", "text", "--vimgrep").stdout.splitlines()) == 8


def test_tests_and_short_functions_are_left_out_unless_they_are_asked_for(root, command):
    write_tree(root, {"db/migrations/m1.py": TOTAL})
    command.succeeds("index", ".")
    assert command("duplicates", "tests").returncode == 0
    for path in ("tests/test_cart.py:5", "db/migrations/m1.py:1"):
        assert path.partition(":")[0] not in command("duplicates").stdout
        assert path in command("duplicates", "--all-code").stdout
    assert command("duplicates", "--min-lines", "20").stderr.startswith(
        "no duplicates in 0 functions\nnote: not seen: "
    )


def test_paths_and_globs_narrow_what_is_compared(command):
    assert [line.split(":")[0] for line in command("duplicates", "shop").stdout.split()][0] == "shop/cart.py"
    assert command("duplicates", "--path", "!shop/**", "--same", "renamed").returncode == 0


@pytest.mark.parametrize("place", ["inside", "above"])
def test_a_comment_keeps_a_function_out(command, root, place):
    mark = "# codesearch: ignore-duplicate\n"
    marked = (
        mark + TOTAL if place == "above" else TOTAL.replace("    total = 0\n", f"    {mark}    total = 0\n")
    )
    for path in ("shop/cart.py", "lib/parcel.py"):
        (root / path).write_text(marked)
    found = command("duplicates")
    assert (found.returncode, found.stdout) == (0, "")


def test_other_formats(command):
    found = command("duplicates", "--vimgrep", "--same", "text")
    assert found.stdout == "shop/cart.py:1:1:same text as shop/order.py:1 total_price\n"
    whole = json.loads(command("duplicates", "--json", "--same", "text").stdout)
    assert whole["groups"][0]["matches"][0]["function"]["path"] == "shop/order.py"
    assert command("duplicates", "--json", "--vimgrep").stderr == (
        "error: --json and --vimgrep exclude each other: give only one\n"
    )


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_changed_functions_are_compared_with_all_others(tmp_path, home):
    root = repository(tmp_path / "repository", {**FILES, "lib/new.py": "x = 1\n\n\n\n"})
    command = Command(root, home)
    command.succeeds("index", ".")
    assert (
        command("duplicates", "--changed").stderr
        == "no duplicates in 0 changed definitions, compared with 4 functions\n"
        "note: not seen: 1 function shorter than --min-lines, "
        "2 functions in tests, examples, migrations, generated or vendored code\n"
    )
    edited = TOTAL.replace("total_price", "sum_up")
    write_tree(root, {"lib/new.py": f"x = 1\n\n\n\n{edited}\n\ndef other():\n    return x\n"})
    found = command("duplicates", "--changed", "--vimgrep", "--same", "renamed")
    assert [line.split(":")[0] for line in found.stdout.splitlines()] == ["lib/new.py"] * 3
    narrowed = command("duplicates", "--changed", "--vimgrep", "--same", "renamed", "--path", "!shop/**")
    assert "shop/" not in narrowed.stdout
    assert "lib/parcel.py" in narrowed.stdout
    git(root, "add", ".")
    git(root, "commit", "-qm", "more")
    assert command("duplicates", "--changed").returncode == 0
    assert command("duplicates", "--changed=HEAD~1", "--same", "renamed").returncode == 1
    assert command("duplicates", "--changed=nothing").stderr.startswith("error: no revision 'nothing' in ")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_check_of_changes_fails_if_another_process_is_writing_the_index(tmp_path, home):
    root = repository(tmp_path / "repository", FILES)
    command = Command(root, home)
    command.succeeds("index", ".")
    write_tree(root, {"lib/new.py": TOTAL})
    with writer_lock(index_folder(home, root), "repository"):
        found = command("duplicates", "--changed")
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == f"error: the index of {root} may lack changes: run `codesearch index {root}`\n"
    assert command("duplicates", "--changed").returncode == 1


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_check_of_changes_indexes_all_of_them_however_long_it_takes(tmp_path, home, monkeypatch):
    root = repository(tmp_path / "repository", FILES)
    monkeypatch.setattr("codesearch.build.plan.Plan.estimated_seconds", 60.0)
    with closing(Engine(home, device="cpu")) as engine:
        engine.index(root)
        write_tree(root, {"lib/new.py": TOTAL})
        assert (
            engine.session(Scope((root,)), Policy(budget_s=math.inf)).duplicates(changed="HEAD").changed == 1
        )


def test_functions_inside_of_others_are_not_compared_with_them_and_not_repeated(command, root):
    outer = "def make(%s):\n    def run(value):\n        first = value + 1\n        second = first * 3\n"
    outer += "        third = second - first\n        return max(first, second, third)\n\n"
    outer += "    return [run(x) for x in %s]\n"
    for path in FILES:
        (root / path).unlink()
    write_tree(root, {"a.py": outer % ("items", "items"), "b.py": outer % ("things", "things")})
    found = command("duplicates", "--min-lines", "4", "--vimgrep")
    assert found.stdout == "a.py:1:1:same but names as b.py:1 make\n"


def test_python_gets_records_that_can_be_cut_again(engine, root):
    answer = engine.session(Scope((root,))).duplicates(min_lines=4, min_score=0.1)
    assert (answer.functions, answer.changed, answer.roots) == (5, None, (str(root),))
    (group,) = answer.groups
    assert [match.same for match in group.matches] == ["text", "renamed", "meaning"]
    assert cut(answer.groups, ("text", "renamed"))[0].matches == group.matches[:2]
    assert group.extra_lines == 6 + 6 + 4
    with pytest.raises(ConfigError, match="is in no git work tree"):
        engine.session(Scope((root,)), Policy(budget_s=math.inf)).duplicates(changed="HEAD")
