"""A query that is an exact name finds its definitions first."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codesearch.config import MODES
from codesearch.search.searcher import Searcher
from codesearch.store.catalogue import index_folder
from codesearch.store.segments import IndexReader
from tests.conftest import build, search, write_tree

WORDS = ("read", "line", "test", "copy", "tree", "sum")
NAME = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("_".join)
BODY = st.sampled_from(
    ("pass", "return 1", "return read(line)", '"""Read, copy, sum and test a line of a tree."""')
)
FUNCTIONS = st.lists(st.tuples(NAME, BODY), min_size=2, max_size=8)
PATHS = st.sampled_from(("a.py", "tests/test_a.py", "vendor/copy.py"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.dictionaries(PATHS, FUNCTIONS, min_size=1), data=st.data())
def test_an_exact_name_always_ranks_first(files, data, encoder):
    name = data.draw(st.sampled_from(sorted({name for functions in files.values() for name, _ in functions})))
    sources = {
        path: "\n\n".join(f"def {name}(line):\n    {body}\n" for name, body in functions)
        for path, functions in files.items()
    }
    with tempfile.TemporaryDirectory() as scratch:
        root = write_tree(Path(scratch, "tree"), sources)
        build(root, Path(scratch, "home"), encoder)
        index = IndexReader.open(index_folder(Path(scratch, "home"), root))
        by_mode = {mode: search(Searcher([index], encoder), name, 100, mode=mode) for mode in MODES}
        index.close()
    called = len({body for functions in files.values() for other, body in functions if name == other})
    for mode, hits in by_mode.items():
        found = [hit.name == name for hit in hits]
        assert found == sorted(found, reverse=True) and sum(found) == called, mode
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True), mode
