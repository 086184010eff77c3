"""Damage every file of a home at every place: a right answer, or a one-line error whose cure works."""

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.errors import CodeSearchError, IndexCorruptError
from codesearch.store.catalogue import index_folder
from codesearch.store.digest import check_intact
from codesearch.store.manifest import read_manifest
from tests.conftest import TINY_REPO, write_tree

QUERIES = ("convert int to string", "Stack.push", "sort strings", "do more work", "added later")
PLACES = ("header", "middle", "end")
LATER = {"later.py": "def added_later(one):\n    '''Is added later.'''\n    return one\n"}
_AREA = 64
"""Bytes of a file that count as its header, middle or end."""
_SAMPLE = 101
"""`make test` tries one case in 101. The number is prime, so the sample has all kinds of damage and uses."""
Answers = list[list[tuple[str, int, float]]]
Damage = Callable[[Path, random.Random, str, Path], None]


def _area(size: int, place: str) -> tuple[int, int]:
    start = {"header": 0, "middle": size // 2, "end": max(size - _AREA, 0)}[place]
    return start, min(start + _AREA, size)


def flip(path: Path, chance: random.Random, place: str, older: Path) -> None:
    content = bytearray(path.read_bytes())
    start, end = _area(len(content), place)
    if content:
        content[chance.randrange(start, end)] ^= 1 << chance.randrange(8)
        path.write_bytes(content)


def overwrite(path: Path, chance: random.Random, place: str, older: Path) -> None:
    content = bytearray(path.read_bytes())
    start, end = _area(len(content), place)
    content[start:end] = chance.randbytes(end - start)
    path.write_bytes(content)


def zero(path: Path, chance: random.Random, place: str, older: Path) -> None:
    content = bytearray(path.read_bytes())
    start, end = _area(len(content), place)
    content[start:end] = bytes(end - start)
    path.write_bytes(content)


def truncate(path: Path, chance: random.Random, place: str, older: Path) -> None:
    start, end = _area(path.stat().st_size, place)
    os.truncate(path, chance.randrange(start, end) if end > start else 0)


def append(path: Path, chance: random.Random, place: str, older: Path) -> None:
    with open(path, "ab") as file:
        file.write(chance.randbytes(chance.randrange(1, 200)))


def delete(path: Path, chance: random.Random, place: str, older: Path) -> None:
    path.unlink()


def randomize(path: Path, chance: random.Random, place: str, older: Path) -> None:
    path.write_bytes(chance.randbytes(path.stat().st_size))


def exchange(path: Path, chance: random.Random, place: str, older: Path) -> None:
    """Replace a file by that of an older commit or of another segment."""
    others = [older, *(path.parents[1].glob(f"*/{path.name}") if "segments" in path.parts else ())]
    others = [other for other in others if other.exists() and other != path]
    if others:
        shutil.copyfile(chance.choice(others), path)


DAMAGES: tuple[tuple[Damage, str], ...] = (
    *product((flip, flip, overwrite, zero, truncate), PLACES),
    (append, ""),
    (delete, ""),
    (randomize, ""),
    (exchange, ""),
)
USES = ("query", "refresh", "update", "rebuild")


@dataclass(frozen=True)
class Home:
    """A home with three commits of one tree, its answers, and copies to restore it from.

    Attributes:
        folder: the home.
        tree: the indexed folder.
        bundle: the model.
        whole: a copy of the home.
        older: a copy of the home at its first commit.
        now: the answers.
        before: the answers at the second and the first commit.
        later: the answers after an update with `LATER`.
    """

    folder: Path
    tree: Path
    bundle: Path
    whole: Path
    older: Path
    now: Answers
    before: list[Answers]
    later: Answers

    @property
    def files(self) -> list[Path]:
        """All files, relative to the home."""
        return sorted(path.relative_to(self.whole) for path in self.whole.rglob("*") if path.is_file())

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        engine = Engine(self.folder, model=self.bundle)
        try:
            yield engine
        finally:
            engine.close()

    def answers(self, *, refresh: bool = False) -> Answers:
        """Return the answers of a new engine, as in a new process."""
        with self.engine() as engine:
            scope = Scope(roots=(self.tree,))
            found = [engine.search(query, scope, top_k=40, refresh=refresh).hits for query in QUERIES]
        return [[(hit.path, hit.start_line, round(hit.score, 6)) for hit in hits] for hits in found]

    def index(self, *, rebuild: bool = False) -> None:
        with self.engine() as engine:
            engine.index(self.tree, rebuild=rebuild)

    def restore(self) -> None:
        """Restore the home, and query it once so that its checks are stored."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.whole, self.folder)
        (self.tree / "later.py").unlink(missing_ok=True)
        assert self.answers() == self.now

    def is_sound(self) -> bool:
        """Return whether every checksum of the index is right, as `doctor` checks."""
        folder = index_folder(self.folder, self.tree)
        manifest = read_manifest(folder)
        try:
            check_intact(folder, manifest, is_thorough=True)
        except IndexCorruptError:
            return False
        return True


@pytest.fixture
def home_of_three(tmp_path: Path, tiny_bundle: Path) -> Home:
    folder, tree = tmp_path / "home", write_tree(tmp_path / "tree", TINY_REPO)
    made = Home(folder, tree, tiny_bundle, tmp_path / "whole", tmp_path / "older", [], [], [])
    made.index()
    made.before.append(made.answers())
    shutil.copytree(folder, made.older)
    for number in range(2):
        write_tree(
            tree,
            {f"more{number}.py": f"def more{number}(work):\n    '''Do more work.'''\n    return {number}\n"},
        )
        made.index()
        made.before.append(made.answers())
    made.now.extend(made.before.pop())
    shutil.copytree(folder, made.whole)
    write_tree(tree, LATER)
    made.index()
    made.later.extend(made.answers())
    assert len({str(answers) for answers in (*made.before, made.now, made.later)}) == 4
    return made


def use(home: Home, how: str) -> tuple[Answers, list[Answers]]:
    """Use a damaged home; return its answers and the right ones."""
    if how == "query":
        return home.answers(), [home.now]
    write_tree(home.tree, LATER)
    if how == "refresh":
        return home.answers(refresh=True), [home.later]
    home.index(rebuild=how == "rebuild")
    return home.answers(), [home.later]


def alike(found: Answers, right: Answers) -> bool:
    """Say whether answers are equal; a vector that was computed again in another batch changes the last digit."""

    def flat(answers: Answers) -> list[tuple[str, int, float]]:
        return [hit for hits in answers for hit in hits]

    return [[hit[:2] for hit in hits] for hits in found] == [
        [hit[:2] for hit in hits] for hits in right
    ] and all(abs(one[2] - other[2]) < 1e-5 for one, other in zip(flat(found), flat(right), strict=True))


def outcome(home: Home, path: Path, damage: Damage, place: str, how: str, seed: int) -> str:
    """Damage one file and use the home; return "right", "one line" (an error), or what is wrong."""
    home.restore()
    damage(home.folder / path, random.Random(seed), place, home.older / path)
    is_older_commit = damage is exchange and path.name == "manifest.json"
    try:
        found, right = use(home, how)
    except CodeSearchError as error:
        if "\n" in str(error) or how == "rebuild":
            return f"message: {error}"
        if isinstance(error, IndexCorruptError):
            home.index(rebuild=True)
            assert alike(home.answers(), home.later if (home.tree / "later.py").exists() else home.now)
        return "one line"
    except Exception as error:
        return f"traceback: {type(error).__name__}: {error}"
    allowed = [*right, *(home.before if is_older_commit else ())]
    if not any(alike(found, answers) for answers in allowed):
        return "another answer"
    if how != "query" and not home.is_sound():
        return "not sound"
    return "right"


def check_cases(home: Home, step: int) -> Counter[str]:
    """Try every `step`-th case; return how often each outcome was seen."""
    files = home.files
    assert {"manifest.json", "stamps", "checked", "documents.sqlite", "vectors.int8"} <= {
        path.name for path in files
    }
    cases = list(enumerate(product(files, DAMAGES, USES)))
    assert len(cases) > 1_000
    seen: Counter[str] = Counter()
    wrong = []
    for seed, (path, (damage, place), how) in cases[::step]:
        found = outcome(home, path, damage, place, how, seed)
        seen[found if found in ("right", "one line") else "wrong"] += 1
        if found not in ("right", "one line"):
            wrong.append(f"{seed}: {damage.__name__} {place} of {path}, {how}: {found}")
    assert not wrong, "\n".join(wrong)
    return seen


def test_damage_in_a_sample_of_cases_gives_the_right_answer_or_a_one_line_error(home_of_three):
    seen = check_cases(home_of_three, _SAMPLE)
    assert min(seen["right"], seen["one line"]) > 5


@pytest.mark.thorough
def test_damage_of_every_file_at_every_place_gives_the_right_answer_or_a_one_line_error(home_of_three):
    seen = check_cases(home_of_three, 1)
    assert seen.total() > 2_000
