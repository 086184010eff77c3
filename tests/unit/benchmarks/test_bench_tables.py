import pytest

from benchmarks import bench_tables
from benchmarks.publish import fill

SYSTEMS = {
    "bm25": {"mrr": {"go": 0.25, "average": 0.5}, "ci95": {"mrr": {"go": [0, 1], "average": [0.4, 0.61]}}},
}


def test_a_table_has_a_column_per_language():
    assert bench_tables.by_language(SYSTEMS, "mrr").splitlines() == [
        "| `mrr` | go | average | 95% of average |",
        "| --- | --- | --- | --- |",
        "| bm25 | 0.250 | 0.500 | 0.400–0.610 |",
    ]


def test_a_suite_of_one_group_is_one_table():
    assert bench_tables.all_together(SYSTEMS, ["mrr"]).splitlines()[-1] == "| bm25 | 0.500 (0.400–0.610) |"


@pytest.mark.parametrize("suite", [*bench_tables.BY_LANGUAGE, *bench_tables.ALL_TOGETHER])
def test_the_page_shows_the_figures_of_the_results(suite, tmp_path, monkeypatch):
    for page in {
        bench_tables.page_of(name) for name in (*bench_tables.BY_LANGUAGE, *bench_tables.ALL_TOGETHER)
    }:
        (tmp_path / page.name).write_text(page.read_text("utf-8"), "utf-8")
    page = tmp_path / bench_tables.page_of(suite).name
    published = page.read_text("utf-8")
    fill(page, suite, "nothing")
    assert page.read_text("utf-8") != published
    monkeypatch.setattr(bench_tables, "DEV_DOCS", tmp_path)
    monkeypatch.setattr(bench_tables, "README", tmp_path / "README.md")
    (tmp_path / "README.md").write_text("<!-- quality --><!-- /quality -->", "utf-8")
    bench_tables.main()
    assert page.read_text("utf-8") == published
