"""Suite repositories on two small repositories."""

import io
import json
import tarfile

import pytest

from benchmarks.suites import repositories
from codesearch.errors import ConfigError
from codesearch.evaluation.judge import BenchOptions
from tests.conftest import write_tree
from tests.git import git, repository

zstandard = pytest.importorskip("zstandard")
SOURCES = {
    "one/src/convert.py": "def int_to_string(number):\n    # Convert an integer to a string.\n    return str(number)\n",
    "one/src/reading.py": "def read_lines(path):\n    return open(path)\n",
    "two/stack.rb": "class Stack\n  def push(item)\n    @items << item\n  end\nend\n",
}
QUESTIONS = {
    "one": [
        {"query": "int to string", "relevant": ["src/convert.py"], "secondary": [], "category": "semantic"},
        {
            "query": "read lines",
            "relevant": [{"path": "reading.py", "start_line": 1}],
            "secondary": ["gone.py"],
            "category": "symbol",
        },
    ],
    "two": [{"query": "push an item", "relevant": ["stack.rb"], "secondary": [], "category": "semantic"}],
}


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    names = [{"name": "one", "language": "python"}, {"name": "two", "language": "ruby"}]
    write_tree(
        folder,
        {"repos.json": json.dumps(names)}
        | {f"annotations/{name}.json": json.dumps(asked) for name, asked in QUESTIONS.items()},
    )
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(write_tree(tmp_path / "sources", SOURCES), arcname=".")
    (folder / repositories.ARCHIVE).write_bytes(zstandard.ZstdCompressor().compress(packed.getvalue()))
    return folder


def options(home, tiny_bundle) -> BenchOptions:
    return BenchOptions(home=home, model=tiny_bundle, device="cpu")


def test_files_are_ranked_and_scored_by_repository_language_and_category(data, home, tiny_bundle):
    result = repositories.run(data, options(home, tiny_bundle))
    bm25 = result.systems["bm25"]
    assert result.runs["bm25"]["one", "read lines"][0] == "src/reading.py"
    assert bm25.queries["one", "int to string"]["ndcg_at_10"] == 1.0
    one_of_two = 1 / (1 + 1 / 1.5849625007211562)
    assert bm25.queries["one", "read lines"]["ndcg_at_10"] == pytest.approx(one_of_two)
    assert bm25.metrics["ndcg_at_10"]["average"] == pytest.approx(((1 + one_of_two) / 2 + 1) / 2)
    assert result.details["by_category"] == {"semantic": 1.0, "symbol": pytest.approx(one_of_two, abs=1e-4)}
    assert set(result.details["by_language"]) == {"python", "ruby"}


def test_an_unpacked_folder_replaces_the_archive(data, home, tiny_bundle, tmp_path):
    (tmp_path / "sources").rename(data / repositories.UNPACKED)
    (data / repositories.ARCHIVE).unlink()
    assert repositories.run(data, options(home, tiny_bundle)).judged_queries == 3


@pytest.mark.parametrize("name", ["repos.json", "annotations/two.json", repositories.ARCHIVE])
@pytest.mark.parametrize("content", [b"{}", b'[{"name": "one"}]'])
def test_data_that_is_damaged_is_one_error(data, home, tiny_bundle, name, content):
    (data / name).write_bytes(content)
    with pytest.raises(ConfigError, match=name.rpartition("/")[2]):
        repositories.run(data, options(home, tiny_bundle))


def test_checkouts_of_other_revisions_are_named(data, home, tiny_bundle, tmp_path):
    sources = (tmp_path / "sources").rename(data / repositories.UNPACKED)
    for folder in (sources / "one", sources / "two"):
        repository(folder, {})
    commit = git(sources / "two", "rev-parse", "HEAD")
    pinned = [
        {"name": "one", "language": "python", "revision": "0" * 40},
        {"name": "two", "language": "ruby", "revision": commit},
    ]
    (data / "repos.json").write_text(json.dumps(pinned))
    result = repositories.run(data, options(home, tiny_bundle))
    assert result.details["not_the_pinned_revision"] == ["one"]
