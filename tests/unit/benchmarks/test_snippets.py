import pytest

pytest.importorskip("torch")

from benchmarks import snippets  # noqa: E402
from codesearch.evaluation.options import BenchOptions  # noqa: E402
from codesearch.evaluation.pool import open_pool  # noqa: E402
from codesearch.evaluation.stages import StageClock  # noqa: E402
from codesearch.evaluation.suites.csn99 import document_key  # noqa: E402

FUNCTION = """class Counter:
    def {name}(self, values):
        total = 0
        for value in values:
            if value > {limit}:
                total += value
            elif value < -{limit}:
                total -= value
            else:
                total += 1
        print(total)
        return total
"""


@pytest.fixture
def pool(tmp_path):
    root = tmp_path / "tree" / "owner" / "name" / "commit"
    root.mkdir(parents=True)
    for limit, name in enumerate(("count", "tally", "sum_up")):
        (root / f"{name}.py").write_text(FUNCTION.format(name=name, limit=limit))
    (root / "copy.py").write_text(FUNCTION.format(name="count", limit=0))
    (root / "short.py").write_text("def short(x):\n    y = x\n    return y\n")
    options = BenchOptions(home=tmp_path / "home", device="cpu")
    with open_pool(tmp_path / "tree", options, StageClock(), document_key) as opened:
        yield opened, tmp_path / "tree"


def test_snippets_are_the_middle_of_a_method_with_and_without_its_names(pool):
    drawn = snippets.draw(*pool, "python")
    assert len(drawn) == 4  # All but the short one.
    for snippet in drawn:
        text, renamed = snippet.text.split("\n"), snippet.renamed.split("\n")
        assert (len(text), text[1].strip()) == (4, "total += value")
        assert (len(renamed), renamed[1].strip()) == (4, "arg_2 += arg_3")


def test_a_function_or_its_copy_is_found_by_its_lines(pool):
    opened, root = pool
    queries = [(snippet.doc_id, snippet.text) for snippet in snippets.draw(opened, root, "python")]
    for mode in ("hybrid", "semantic"):
        assert snippets.mrr(opened, queries, mode, as_code=True) > 0.5
    other = [(doc_id, "def short(x):\n    y = x\n    return y") for doc_id, _ in queries]
    assert snippets.mrr(opened, other, "hybrid", as_code=True) < 0.5
