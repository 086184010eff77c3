import dataclasses
import json
from collections import Counter

import pytest

zstandard = pytest.importorskip("zstandard")
pytest.importorskip("tqdm")

from training.corpus.archives import is_wanted, source_files  # noqa: E402
from training.corpus.decontaminate import Forbidden, without_forbidden  # noqa: E402
from training.corpus.dedupe import without_duplicates  # noqa: E402
from training.corpus.extract import extract_corpus  # noqa: E402
from training.corpus.recipe import SourcePackage, read_recipe  # noqa: E402
from training.corpus.rows import Row, read_rows, write_rows  # noqa: E402
from training.corpus.split import cap_repositories, split  # noqa: E402
from training.errors import TrainingError  # noqa: E402

ROW = Row("a/b", "b", "x.py", "f", "f", "python", "def f(a):\n    c = a\n    return c", "Add one to it.", "")


def function(name, docstring, body):
    return f'def {name}(value):\n    """{docstring}"""\n    {body}\n    return value\n\n'


def write_package(corpus, package, source):
    folder = corpus / package.folder
    folder.mkdir(parents=True)
    (folder / "module.py").write_text(source)
    (folder / "package.json").write_text("{}")


def write_jsonl_zst(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zstandard.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))


def test_a_planted_function_and_repository_of_the_evaluation_sets_are_dropped(tmp_path):
    leaked = function("leak", "Something to be found.", "value += 40")
    moved = function("moved", "Told in the very same words.", "value += 41")
    good = SourcePackage("python", "pypi", "good", "some/good", "MIT")
    bad = SourcePackage("python", "pypi", "bad", "Held/Out", "MIT")
    own = function("own", "Something all of its own.", "value += 1")
    write_package(tmp_path / "corpus", good, leaked + moved.replace("41", "value * 3") + own)
    write_package(tmp_path / "corpus", bad, function("other", "Never to be learned.", "value += 2"))
    sets = tmp_path / "sets"
    (sets / "csn_urls").mkdir(parents=True)
    (sets / "csn_urls" / "exclude_repos_test_valid.txt").write_text("held/out\n")
    pool = {"language": "python", "text": leaked.replace("value += 40", "value  +=  40  # now") + moved}
    write_jsonl_zst(sets / "csn99" / "sources.jsonl.zst", [{**pool, "text": leaked + moved}])
    stats = extract_corpus([good, bad], tmp_path / "corpus", sets, processes=1)
    dropped = stats["languages"]["python"]["dropped"]
    assert dropped["function of an evaluation set"] == 2
    assert dropped["repository of an evaluation set"] == 1
    paths = sorted((tmp_path / "corpus" / "rows").glob("python.*.jsonl.zst"))
    assert [row.identifier for path in paths for row in read_rows(path)] == ["own"]


def test_absent_evaluation_sets_are_said_and_drop_nothing(tmp_path, caplog):
    package = SourcePackage("python", "pypi", "good", "some/good", "MIT")
    write_package(tmp_path, package, function("own", "Something all of its own.", "value += 1"))
    stats = extract_corpus([package], tmp_path, tmp_path / "nowhere", processes=1)
    assert sum(stats["languages"]["python"]["pairs"].values()) == 1
    assert len([line for line in caplog.messages if "is absent" in line]) == 3


def test_a_repository_is_excluded_whatever_its_case():
    dropped = Counter()
    assert list(without_forbidden([ROW], Forbidden(frozenset({"a/b"})), dropped)) == []
    assert dropped == {"repository of an evaluation set": 1}


def test_duplicates_differ_in_layout_only_or_share_name_and_docstring():
    layout = dataclasses.replace(
        ROW, code="def f( a ):\n    c=a\n\n    return c", docstring="Other words here."
    )
    same_words = dataclasses.replace(ROW, code="def f(a):\n    return a + 1")
    other = dataclasses.replace(ROW, code="def f(a):\n    return a + 2", docstring="Take two from it.")
    dropped = Counter()
    assert list(without_duplicates([ROW, layout, same_words, other], dropped)) == [ROW, other]
    assert dropped == {"duplicate": 2}


def rows_of(sizes):
    return [
        dataclasses.replace(ROW, repo=f"o/{repository}", code=f"{repository} {number}")
        for repository, size in enumerate(sizes)
        for number in range(size)
    ]


def test_a_repository_is_capped_the_same_way_each_time():
    rows, dropped = rows_of([5_000, 100]), Counter()
    kept = cap_repositories(rows, 0.1, dropped)
    assert Counter(row.repo for row in kept) == {"o/0": 2_000, "o/1": 100}
    assert dropped["over its repository's share"] == 3_000
    assert cap_repositories(rows, 0.1, Counter()) == kept


def test_the_split_holds_out_a_tenth_of_the_rows_in_whole_repositories():
    rows = split(rows_of([400] * 60))
    partitions = {row.repo: row.partition for row in rows}
    assert all(partitions[row.repo] == row.partition for row in rows)
    counts = Counter(row.partition for row in rows)
    assert 2_400 <= counts["test"] <= 3_600 and 2_400 <= counts["valid"] <= 3_600
    assert split(rows_of([400] * 60)) == rows


def test_a_repository_that_would_be_most_of_a_partition_is_trained_on():
    rows = split(rows_of([9_000] + [100] * 200))
    assert {row.partition for row in rows if row.repo == "o/0"} == {"train"}
    assert {row.partition for row in rows} == {"train", "valid", "test"}


def test_rows_survive_the_file(tmp_path):
    write_rows(tmp_path / "a.jsonl.zst", [ROW])
    assert list(read_rows(tmp_path / "a.jsonl.zst")) == [ROW]


def test_a_missing_row_file_names_the_command(tmp_path):
    with pytest.raises(TrainingError, match="corpus extract"):
        list(read_rows(tmp_path / "none.jsonl.zst"))


def test_every_package_of_the_recipe_has_an_upstream_and_a_licence():
    packages = read_recipe()
    assert {package.language for package in packages} == {"go", "java", "javascript", "php", "python", "ruby"}
    assert all(package.repository.count("/") == 1 and package.licence for package in packages)
    assert len({(package.kind, package.name) for package in packages}) == len(packages)


def test_a_recipe_with_an_unknown_kind_is_refused(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text(
        '[languages.go]\npackages = [{ kind = "floppy", name = "a", repository = "a/b", licence = "MIT" }]\n'
    )
    with pytest.raises(TrainingError, match="floppy"):
        read_recipe(path)


@pytest.mark.parametrize(
    ("path", "wanted"),
    [("src/a.js", True), ("src/a.min.js", False), ("test/a.js", False), ("src/a.ts", False)],
)
def test_tests_and_minified_files_are_not_wanted(path, wanted):
    assert is_wanted(path, 10, "javascript") is wanted


def test_sources_are_read_from_a_zip_inside_a_tarball(tmp_path):
    import io
    import tarfile
    import zipfile

    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as opened:
        opened.writestr("p/A.java", "class A {}")
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as opened:
        for name, content in (
            ("src.zip", inner.getvalue()),
            ("broken.zip", b"PK"),
            ("B.java", b"class B {}"),
        ):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            opened.addfile(info, io.BytesIO(content))
    found = dict(source_files(tmp_path / "x.tar.gz", "java"))
    assert found == {"p/A.java": b"class A {}", "B.java": b"class B {}"}
