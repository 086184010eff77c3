import pytest

from benchmarks import bench_tables
from benchmarks.publish import fill


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
