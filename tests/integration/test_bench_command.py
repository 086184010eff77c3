"""`codesearch bench` on a small data set: what it prints, writes, keeps and refuses."""

import csv
import json
import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import zstandard

from benchmarks import suite
from tests.command import Command
from tests.conftest import TINY_REPO

SHA = "d" * 40
BASE = f"https://github.com/o/n/blob/{SHA}"
JUDGEMENTS = [
    ("Python", "convert int to string", "python/convert.py#L4-L6", 3),
    ("Python", "convert int to string", "python/convert.py#L9-L11", 0),
    ("Go", "read lines of a file", "go/reader.go#L4-L6", 2),
    ("Go", "read lines of a file", "go/reader.go#L4-L6", 3),
    ("Go", "read lines of a file", "go/reader.go#L900-L901", 3),
    ("Ruby", "priority queue", "ruby/queue.rb#L4-L6", 0),
]
"""One function with two annotators, one that is not a document, and a query without relevant functions."""


def write_data(folder: Path) -> Path:
    folder.mkdir()
    queries = dict.fromkeys(query for _, query, *_ in JUDGEMENTS)
    (folder / "queries.csv").write_text("\n".join(["query", *queries, "push on a stack", ""]))
    rows = [f"{language},{query},{BASE}/{place},{grade}," for language, query, place, grade in JUDGEMENTS]
    (folder / "annotations.csv").write_text(
        "\n".join(["Language,Query,GitHubUrl,Relevance,Notes", *rows, ""])
    )
    files = [{"repo": "o/n", "sha": SHA, "path": path, "text": text} for path, text in TINY_REPO.items()]
    packed = "".join(json.dumps(file) + "\n" for file in files).encode()
    (folder / "sources.jsonl.zst").write_bytes(zstandard.compress(packed))
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data")


@dataclass(frozen=True)
class Bench:
    """The command on the small data set; it writes files into `data`."""

    command: Command
    data: Path
    model: Path

    def __call__(self, *arguments: object) -> str:
        done = self.command("bench", "--data", self.data, "--model", self.model, *arguments)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout

    def suite(self, *arguments: object) -> None:
        """Run `python -m benchmarks.suite csn99` in this process."""
        options = ("--data", self.data, "--model", self.model, "--home", self.command.home)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.argv", ["suite", "csn99", *map(str, (*options, *arguments))])
            suite.main()

    def json(self, name: str, *arguments: object) -> dict[str, Any]:
        self("--json", self.data / name, *arguments)
        return json.loads((self.data / name).read_text())


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, tiny_bundle: Path) -> Bench:
    folder = tmp_path_factory.mktemp("bench")
    return Bench(Command(folder, folder / "home"), write_data(folder / "data"), tiny_bundle)


@dataclass(frozen=True)
class Output:
    """What one run wrote."""

    folder: Path
    printed: list[str]
    fields: dict[str, Any]

    @property
    def default(self) -> dict[str, Any]:
        return self.fields["systems"]["default"]


@pytest.fixture(scope="module")
def output(bench: Bench) -> Output:
    folder = bench.data
    printed = bench("--json", folder / "a.json").splitlines()
    bench.suite("--predictions", folder / "p.csv")
    return Output(folder, printed, json.loads((folder / "a.json").read_text()))


def predicted(path: Path, language: str, query: str) -> list[str]:
    with open(path, newline="") as file:
        rows = csv.DictReader(file)
        return [row["url"] for row in rows if (row["language"], row["query"]) == (language, query)]


def test_figures_equal_those_computed_from_the_predictions(output):
    system, data = output.default, output.folder
    found = predicted(data / "p.csv", "python", "convert int to string")
    place = found.index(f"{BASE}/python/convert.py#L4-L6") + 1
    assert system["ndcg_all"]["python"] == pytest.approx(1 / math.log2(place + 1))
    found = predicted(data / "p.csv", "go", "read lines of a file")
    gain, rank = 2**2.5 - 1, found.index(f"{BASE}/go/reader.go#L4-L6") + 1
    ideal = 7 + gain / math.log2(3)
    assert system["ndcg_all"]["go"] == pytest.approx(gain / math.log2(rank + 1) / ideal)
    assert system["ndcg_within"]["go"] == pytest.approx(gain / ideal)
    assert system["recall_at_10"]["go"] == 0.5
    assert system["screen"] == {"go": 1.0, "python": 1.0, "average": 1.0}
    assert system["ndcg_all"].keys() == {"go", "python", "average"}
    assert output.fields["details"]["coverage"]["go"] == {"judged": 2, "extracted": 1}


def test_every_query_is_asked_in_every_language_and_has_only_answers_in_it(output):
    with open(output.folder / "p.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["query"] for row in rows} == {
        "convert int to string",
        "read lines of a file",
        "priority queue",
        "push on a stack",
    }
    endings = {
        "python": ".py",
        "go": ".go",
        "java": ".java",
        "javascript": ".js",
        "php": ".php",
        "ruby": ".rb",
    }
    assert {row["language"] for row in rows} == set(endings)
    assert all(row["url"].partition("#")[0].endswith(endings[row["language"]]) for row in rows)
    assert not [row for row in rows if row["identifier"] in ("Stack", "Sorter", "PriorityQueue")]


def test_predictions_get_the_scores_of_the_run_that_wrote_them(bench, output):
    bench.suite("--json", output.folder / "scored.json", "--score", output.folder / "p.csv")
    fields = json.loads((output.folder / "scored.json").read_text())
    for part in ("scores", "ci95"):  # A file of results does not say what is on a screen.
        expected = {metric: values for metric, values in output.default[part].items() if metric != "screen"}
        assert fields["systems"]["p"][part] == expected
    assert (fields["documents"], fields["details"]) == (10, {"judged_pairs": 2, "answered_pairs": 2})


@pytest.mark.parametrize(
    "row",
    [
        f"read lines of a file,Go,f,{BASE.replace('/blob/', '/tree/')}/go/reader.go#L4-L6",
        "read lines of a file,Go,f,",
        f"read lines of a file,Python,f,{BASE}/go/reader.go#L4-L6",
        "",
    ],
    ids=["tree", "no url", "other language", "no rows"],
)
def test_a_file_without_a_judged_result_is_an_error(bench, tmp_path, capsys, row):
    (tmp_path / "p.csv").write_text(f"query,language,identifier,url\n{row}\n")
    with pytest.raises(SystemExit, match="2"):
        bench.suite("--score", tmp_path / "p.csv")
    assert re.search(
        r"p\.csv: none of its [01] distinct results is judged: check language.*L4-L6\n$",
        capsys.readouterr().err,
    )


def test_two_runs_find_the_same_and_leave_nothing(bench, output):
    folder, home = output.folder, bench.command.home
    bench.suite("--json", folder / "b.json", "--predictions", folder / "q.csv")
    again = json.loads((folder / "b.json").read_text())
    assert (folder / "p.csv").read_bytes() == (folder / "q.csv").read_bytes()
    assert again["details"]["rss_bytes"].keys() == again["seconds"].keys()
    assert again["systems"] == output.fields["systems"]
    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_the_json_says_what_ran(output):
    fields = output.fields
    assert (fields["suite"], fields["judged_queries"], fields["documents"]) == ("csn99", 2, 10)
    assert list(fields["systems"]) == ["bm25", "dense", "fused", "default"]
    stages = {"unpack", "load", "index", "score", *(f"query {name}" for name in fields["systems"])}
    assert fields["seconds"].keys() == stages
    assert fields["details"]["model"]["name"] == "tiny"


def test_the_output_has_groups_coverage_and_published_rows(output):
    lines = output.printed
    assert lines[0] == "csn99: 2 judged queries, 10 documents"
    assert lines[2].split() == ["ndcg_all", "go", "python", "average", "95%", "of", "average"]
    assert any(line.split()[:2] == ["ElasticSearch", "0.205"] and "other pool" in line for line in lines)
    assert "  coverage    4 of 5 judged functions are documents with exactly these lines" in lines


def test_results_can_be_scored_by_other_judgements(bench, output):
    row = f"Java,sort a list,{BASE}/java/Sorter.java#L6-L8,2,"
    other, found = output.folder / "other.csv", output.folder / "found.csv"
    other.write_text(f"Language,Query,GitHubUrl,Relevance,Notes\n{row}\n")
    found.write_text(f"query,language,identifier,url\nsort a list,java,,{BASE}/java/Sorter.java#L6-L8\n")
    bench.suite("--score", found, "--annotations", other, "--json", output.folder / "other.json")
    fields = json.loads((output.folder / "other.json").read_text())
    assert fields["judged_queries"] == 1
    assert fields["systems"]["found"]["recall_at_10"] == {"java": 1.0, "average": 1.0}


def test_an_environment_variable_names_the_data(command, data, tiny_bundle):
    named = replace(command, variables={"CODESEARCH_BENCH_DATA": str(data)})
    assert named("bench", "--model", tiny_bundle).returncode == 0


def test_without_data_the_error_names_the_download_and_the_smoke_suite(command):
    said = replace(command, variables={"CODESEARCH_BENCH_DATA": ""}).fails("bench", "--suite", "csn99")
    assert said.startswith("error: the data of csn99 is not here: give --data FOLDER")
    assert "`python -m training download csn99 --out FOLDER`" in said
    assert "`codesearch bench --suite smoke`" in said


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--suite", "none"], "suite 'none': choose one of "),
        (["--data", "."], "no queries.csv there"),
        (["--json", "none/x.json"], "none/x.json: cannot be written"),
        (["--data", "data", "--model", "none"], "none"),
    ],
)
def test_invalid_arguments_are_a_one_line_error(command, data, arguments, reason):
    assert reason in command.fails("bench", *arguments)


def test_suites_are_listed(command):
    done = command("bench", "--suite", "help")
    assert done.returncode == 0
    assert {"csn99", "smoke"} <= {line.split()[0] for line in done.stdout.splitlines()}
