import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import zstandard

from codesearch.evaluation.data import read_jsonl
from training.__main__ import main
from training.corpus.archives import is_wanted, source_files
from training.corpus.extract import extract_corpus
from training.corpus.load import from_record
from training.corpus.recipe import SourcePackage, read_recipe
from training.corpus.rows import read_rows
from training.corpus.split import Place, place_rows, stable_hash
from training.corpus.stats import CorpusStats, read_stats, report
from training.files import TrainingError, read_json


def function(name, docstring, body):
    return f'def {name}(value):\n    """{docstring}"""\n    {body}\n    return value\n\n'


def write_package(corpus, package, source):
    folder = corpus / package.folder
    folder.mkdir(parents=True)
    (folder / "module.py").write_text(source)
    marker = {"version": "1.0", "download_bytes": 10, "files": 1, "bytes": len(source)}
    (folder / "package.json").write_text(json.dumps(marker))


def write_jsonl_zst(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zstandard.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))


def kept_names(corpus):
    paths = sorted((corpus / "rows").glob("*.jsonl.zst"))
    return [row.identifier for path in paths for row in read_rows(path)]


GOOD = SourcePackage("python", "pypi", "good", "some/good", "MIT")
LONG = "total = value\n    for part in parts(value):\n        total += weight(part) * scale"


def test_planted_functions_and_repositories_of_the_evaluation_sets_are_dropped(tmp_path):
    leaked = function("leak", "Something to be found.", "value += 40")
    moved = function("moved", "Told in the very same words.", LONG.replace("weight", "height"))
    edited = function("edited", "Weigh what it is made of.", LONG)
    own = function("own", "Something all of its own.", "value += 1")
    source = (
        leaked
        + moved.replace("scale", "6 + 7 + 8 + 9")
        + edited.replace("Weigh", "Count").replace("scale", "2")
    )
    bad = SourcePackage("python", "pypi", "bad", "Held/Out", "MIT")
    write_package(tmp_path / "corpus", GOOD, source + own)
    write_package(tmp_path / "corpus", bad, function("other", "Never to be learned.", "value += 2"))
    sets = tmp_path / "sets"
    (sets / "csn_urls").mkdir(parents=True)
    (sets / "csn_urls" / "exclude_repos_test_valid.txt").write_text("held/out\n")
    reformatted = leaked.replace("value += 40", "value  +=  40")
    write_jsonl_zst(
        sets / "csn99" / "sources.jsonl.zst", [{"language": "python", "text": reformatted + moved}]
    )
    write_jsonl_zst(sets / "cosqa" / "codebase.python.jsonl.zst", [{"language": "python", "code": edited}])
    stats = extract_corpus([GOOD, bad], tmp_path / "corpus", sets, processes=1)
    dropped = stats.languages["python"].dropped
    assert dropped["function of an evaluation set"] == 2
    assert dropped["near-duplicate of an evaluation set"] == 1
    assert dropped["repository of an evaluation set"] == 1
    assert kept_names(tmp_path / "corpus") == ["own"]


def test_code_of_questions_and_repositories_of_url_lists_are_dropped(tmp_path):
    answer = (
        "public int weigh(List<Part> parts) {\n int total = base;\n"
        " for (Part part : parts) total += part.weight();\n return total;\n}"
    )
    listed = SourcePackage("java", "pypi", "listed", "In/List", "MIT")
    shown = SourcePackage("java", "pypi", "shown", "In/Answer", "MIT")
    own = SourcePackage("java", "pypi", "own", "a/b", "MIT")
    for package in (listed, shown, own):
        folder = tmp_path / package.folder
        folder.mkdir(parents=True)
        (folder / "A.java").write_text(f"class A {{\n/** Weigh all the parts. */\n{answer}\n}}\n")
        (folder / "package.json").write_text('{"version": "1", "download_bytes": 1, "files": 1, "bytes": 1}')
    sets = tmp_path / "sets"
    (sets / "csn_urls").mkdir(parents=True)
    (sets / "csn_urls" / "advtest_dev.txt").write_text("https://github.com/in/list/blob/0/A.java#L1-L2\n")
    urls = ["https://github.com/in/answer/blob/0/A.java"]
    question = {"language": "java", "code": answer, "examples_url": urls}
    write_jsonl_zst(sets / "ncs" / "questions.jsonl.zst", [question])
    dropped = extract_corpus([listed, shown, own], tmp_path, sets, processes=1).languages["java"].dropped
    assert dropped["repository of an evaluation set"] == 2
    assert dropped["function of an evaluation set"] == 1


def test_absent_evaluation_sets_are_reported_and_drop_nothing(tmp_path, caplog):
    write_package(tmp_path, GOOD, function("own", "Something all of its own.", "value += 1"))
    stats = extract_corpus([GOOD], tmp_path, tmp_path / "nowhere", processes=1)
    assert stats.languages["python"].documented == 1
    assert len([line for line in caplog.messages if "is absent" in line]) == 6


def test_packages_of_a_project_in_an_evaluation_set_are_refused_by_name(tmp_path, caplog):
    (tmp_path / "never_train.txt").write_text("# projects\ngood\nGin\nnlohmann-json\n")
    packages = [
        GOOD,
        SourcePackage("python", "debian", "python3-good", "a/b"),
        SourcePackage("go", "debian", "golang-github-gin-gonic-gin-dev", "a/b"),
        SourcePackage("cpp", "github", "nlohmann/json", "nlohmann/json"),
        SourcePackage("python", "pypi", "goods", "some/goods"),
    ]
    for package in packages:
        write_package(tmp_path, package, function("own", "Something all of its own.", "value += 1"))
    stats = extract_corpus(packages, tmp_path, tmp_path, processes=1)
    assert {language: each.packages for language, each in stats.languages.items()} == {"python": 1}
    assert "4 packages of projects in evaluation sets are left out: cpp/nlohmann/json, " in caplog.text


def test_packages_of_another_recipe_are_named_in_a_warning(tmp_path, caplog):
    other = SourcePackage("python", "pypi", "other", "some/other", "MIT")
    for package in (GOOD, other):
        write_package(tmp_path, package, function("own", "Something all of its own.", "value += 1"))
    assert extract_corpus([GOOD], tmp_path, None, processes=1).languages["python"].packages == 1
    assert (
        "python: no rows for train and valid: whole repositories are held out, of at most 275" in caplog.text
    )
    assert (
        f"1 fetched packages are not chosen and left out, such as {tmp_path / other.folder}"
        in caplog.messages
    )
    with pytest.raises(TrainingError, match="no package of the recipe: give the --recipe of"):
        extract_corpus(
            [SourcePackage("go", "pypi", "third", "some/third", "MIT")], tmp_path, None, processes=1
        )


def test_duplicates_and_near_duplicates_are_dropped(tmp_path):
    first = function("first", "Weigh what it is made of.", LONG)
    source = (
        first
        + first.replace("first", "FIRST")
        .replace("Weigh", "Reckon")
        .replace("total = value", "total  =  value")
        + function("first", "Weigh what it is made of.", "value *= 2")
        + first.replace("first", "edited").replace("Weigh", "Count")
        + function("other", "Halve it once or twice.", "value /= 2")
    )
    write_package(tmp_path, GOOD, source)
    figures = extract_corpus([GOOD], tmp_path, None, processes=1).languages["python"]
    assert kept_names(tmp_path) == ["first", "other"]
    assert {reason: count for reason, count in figures.dropped.items() if count} == {
        "duplicate": 2,
        "near-duplicate": 1,
    }
    assert (figures.documented, figures.all) == (2, 3)


def test_functions_without_documentation_are_counted_once_and_not_written(tmp_path):
    bare = "def bare(value):\n    value += 1\n    return value\n\n"
    short = function("short", "Too short.", "value += 2")
    write_package(
        tmp_path, GOOD, bare + bare + short + function("own", "Something all of its own.", "value += 3")
    )
    figures = extract_corpus([GOOD], tmp_path, None, processes=1).languages["python"]
    assert (figures.documented, figures.all) == (1, 3)
    assert figures.dropped["no docstring"] == 2 and figures.dropped["docstring under 3 tokens"] == 1


def test_a_record_has_the_fields_of_codesearchnet(tmp_path):
    source = (
        "import os\n\nclass A:\n    def size(self, path):\n"
        '        """Return the size of a file.\n\n        In bytes.\n        """\n'
        "        # stat is enough\n        return os.stat(path, 'x y').st_size\n"
    )
    write_package(tmp_path, GOOD, source)
    extract_corpus([GOOD], tmp_path, None, processes=1)
    (record,) = [record for path in (tmp_path / "rows").glob("*.jsonl.zst") for _, record in read_jsonl(path)]
    blob = subprocess.run(
        ["git", "hash-object", "--stdin"], input=source.encode(), capture_output=True, check=True
    )
    tokens = "def|size|(|self|,|path|)|:|# stat is enough|return|os|.|stat|(|path|,|'x y'|)|.|st_size"
    assert record == {
        "repo": "some/good",
        "path": "module.py",
        "func_name": "A.size",
        "original_string": source[source.index("def size") :].rstrip(),
        "language": "python",
        "code": "def size(self, path):\n        \n        # stat is enough\n"
        "        return os.stat(path, 'x y').st_size",
        "code_tokens": tokens.split("|"),
        "docstring": "Return the size of a file.\n\nIn bytes.",
        "docstring_tokens": ["Return", "the", "size", "of", "a", "file", "."],
        "sha": blob.stdout.decode().strip(),
        "url": "pkg:pypi/good@1.0#module.py#L4-L10",
        "package": "good",
        "partition": record["partition"],
    }
    assert record["partition"] in ("train", "test")
    row = from_record(record).row
    assert (row.docstring, row.docstring_rest, row.identifier) == (
        "Return the size of a file.",
        "In bytes.",
        "size",
    )


def test_the_rows_do_not_depend_on_the_workers(tmp_path):
    packages = [SourcePackage("python", "pypi", f"p{number}", f"o/p{number}", "MIT") for number in range(60)]
    for number, package in enumerate(packages):
        source = "".join(
            function(f"f{index}", f"Do thing {number} {index}.", f"value += weigh_{number}_{index}({index})")
            for index in range(60)
        )
        write_package(tmp_path, package, source)
    contents = []
    for processes in (1, 2):
        stats = extract_corpus(packages, tmp_path, None, processes=processes)
        assert min(stats.languages["python"].partitions.values()) > 1_000
        contents.append([path.read_bytes() for path in sorted((tmp_path / "rows").glob("*.jsonl.zst"))])
    assert contents[0] == contents[1]


def places_of(sizes):
    return [
        Place(f"o/{repository}", stable_hash(f"{repository} {number}"))
        for repository, size in enumerate(sizes)
        for number in range(size)
    ]


def test_the_cap_of_a_repository_is_reproducible():
    places = places_of([5_000, 100])
    placed = place_rows(places, 0.1)
    kept = Counter(place.repository for place, partition in zip(places, placed, strict=True) if partition)
    assert kept == {"o/0": 2_000, "o/1": 100}
    assert place_rows(places, 0.1) == placed


def test_the_split_holds_out_a_tenth_of_the_rows_as_whole_repositories():
    places = places_of([400] * 60)
    placed = place_rows(places)
    assert len(set(zip((place.repository for place in places), placed, strict=True))) == 60
    counts = Counter(placed)
    assert 2_400 <= counts["test"] <= 3_600 and 2_400 <= counts["valid"] <= 3_600


def test_a_repository_that_would_dominate_a_partition_is_used_for_training():
    places = places_of([9_000] + [100] * 200)
    placed = place_rows(places, 1.0)
    assert {its for place, its in zip(places, placed, strict=True) if place.repository == "o/0"} == {"train"}
    assert set(placed) == {"train", "valid", "test"}


def test_train_only_packages_do_not_change_the_held_out_partitions():
    divided = places_of([400] * 60)
    more = [Place(f"o/more-{index % 3}", place.order, train_only=True) for index, place in enumerate(divided)]
    placed = place_rows(divided + more)
    assert placed[: len(divided)] == place_rows(divided)
    assert set(placed[len(divided) :]) == {"train", ""}, (
        "the cap of a repository does not apply to train-only rows"
    )


def test_every_package_of_the_recipe_has_an_upstream_and_a_licence():
    packages = read_recipe()
    assert {package.language for package in packages} == {"go", "java", "javascript", "php", "python", "ruby"}
    assert all(package.repository.count("/") == 1 and package.licence for package in packages)
    assert len({(package.kind, package.name) for package in packages}) == len(packages)


def test_a_recipe_names_a_repository_in_one_list_only(tmp_path):
    path = tmp_path / "r.toml"
    one, other = (
        f'[{{ kind = "pypi", name = "{name}", repository = "{repository}", licence = "MIT" }}]'
        for name, repository in (("a", "a/b"), ("c", "A/b"))
    )
    path.write_text(f"[languages.go]\npackages = {one}\ntrain_only = {other}\n")
    with pytest.raises(TrainingError, match="a/b is in both lists"):
        read_recipe(path)
    path.write_text(
        f"[languages.go]\npackages = {one}\n[languages.php]\ntrain_only = {other}\npackages = []\n"
    )
    assert [package.train_only for package in read_recipe(path)] == [False, True]


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


def test_the_page_has_the_measured_counts():
    root = Path(__file__).parents[3]
    stats = read_json(CorpusStats, root / "benchmarks/results/corpus.json", "")
    table, _, summary = report(stats).split("\n\n")
    page = (root / "docs/dev/corpus.md").read_text()
    assert table in page and summary in page
    assert sum(figures.documented for figures in stats.languages.values()) >= 500_000
    assert min(figures.documented for figures in stats.languages.values()) >= 30_000


def test_a_reader_that_leaves_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "rows").mkdir()
    shutil.copy(Path(__file__).parents[3] / "benchmarks/results/corpus.json", tmp_path / "rows/stats.json")
    read, write = os.pipe()
    os.close(read)
    with open(write, "w") as gone:
        monkeypatch.setattr(sys, "stdout", gone)
        assert main(["corpus", "stats", "--corpus", str(tmp_path)]) == 0


def test_the_stats_command_prints_the_counts_of_extract(tmp_path, capsys):
    write_package(tmp_path, GOOD, function("own", "Something all of its own.", "value += 1"))
    extract_corpus([GOOD], tmp_path, None, processes=1)
    assert main(["corpus", "stats", "--corpus", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "| python | 1 | 1 | 0 | 0 | 1 | 1 | 0 MB |" in printed
    assert "| all | 1 | 1 | 0 | 0 | 1 | 1 | 0 MB |" in printed
    assert read_stats(tmp_path).languages["python"].documented == 1
    (tmp_path / "rows" / "stats.json").write_text("{}")
    assert main(["corpus", "stats", "--corpus", str(tmp_path)]) == 2
    assert "run `python -m training corpus extract`" in capsys.readouterr().err


def test_train_only_packages_can_be_excluded(tmp_path):
    entry = '{{ kind = "pypi", name = "{0}", repository = "some/{0}", licence = "MIT" }}'
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        f"[languages.python]\npackages = [{entry.format('good')}]\ntrain_only = [{entry.format('more')}]\n"
    )
    for package, name in zip(read_recipe(recipe), ("own", "another"), strict=True):
        write_package(
            tmp_path, package, function(name, f"Something {name} of its own.", f"value += {len(name)}")
        )
    command = ["corpus", "extract", "--corpus", str(tmp_path), "--recipe", str(recipe), "--processes", "1"]
    assert main(command) == 0
    assert sorted(kept_names(tmp_path)) == ["another", "own"]
    assert main([*command, "--without-train-only"]) == 0
    assert kept_names(tmp_path) == ["own"]
