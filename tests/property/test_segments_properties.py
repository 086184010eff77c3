"""After any edits an index equals a fresh build: documents, statistics, hits, order and scores."""

import os
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from codesearch.build import plan as plan_module
from codesearch.config import CONTENT, IndexConfig, RankConfig, WalkConfig
from codesearch.search.lexical import LexicalScorer
from codesearch.search.request import Filters, SearchRequest
from codesearch.search.searcher import Searcher
from codesearch.store.catalogue import index_folder
from codesearch.store.manifest import segment_folder
from codesearch.store.segments import IndexReader, last_number
from codesearch.store.snapshot import Snapshot
from tests.conftest import HashEncoder, build, contents, write_tokenizer

WORDS = ("push", "item", "stack", "read", "line", "file", "string", "sort")
FOLDERS = ("", "a/", "a/b/", "tests/", "z/")
PATHS = st.builds(
    lambda folder, name, ending: f"{folder}{name}.{ending}",
    st.sampled_from(FOLDERS),
    st.sampled_from(("one", "two", "three", "vendor_x")),
    st.sampled_from(("py", "rb", "md", "toml")),
)
FUNCTION = st.tuples(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    st.lists(st.sampled_from(WORDS), max_size=4),
    st.lists(st.sampled_from(WORDS), max_size=3),
)
FUNCTIONS = st.lists(FUNCTION, max_size=4)
REQUESTS = [
    SearchRequest(query, top_k, mode, filters)
    for query, top_k in (("push item", 3), ("read line of a file", 40), ("sort_string", 5))
    for mode in ("hybrid", "lexical", "semantic")
    for filters in (
        Filters(),
        Filters(languages=("ruby",)),
        Filters(paths=("a/*",)),
        Filters(kinds=("function",)),
        Filters(kinds=("section", "setting")),
    )
]


_AN_HOUR_NS = 3_600 * 10**9
CONFIGS = [RankConfig(), RankConfig(candidate_count=3, heuristics_count=4)]
"""The second one has few candidates, so ties at the last place matter."""


def source(functions: list[tuple[list[str], list[str], list[str]]], path: str) -> str:
    """Return the source of a file with these functions. Several files may have the same ones.

    Documentation and configuration have the same words in sections.
    """
    texts = []
    for name, documentation, body in functions:
        words = " + ".join(body or ["1"])
        if path.endswith(".md"):
            texts.append(f"## {' '.join(name)}\n\n{' '.join(documentation)}\n\n```\n# {words}\n```\n")
        elif path.endswith(".toml"):
            texts.append(f"# {' '.join(documentation)}\n[{'.'.join(name)}]\nvalue = '{words}'\n")
        elif path.endswith(".rb"):
            texts.append(f"# {' '.join(documentation)}\ndef {'_'.join(name)}\n  {words}\nend\n")
        else:
            more = "".join(
                f"    step({at}, {words})\n" for at in range(30 if len(body) > 1 else 0)
            )  # Passages.
            texts.append(
                f'def {"_".join(name)}():\n    """{" ".join(documentation)}"""\n{more}    return {words}\n'
            )
    return "\n".join(texts)


class Histories(RuleBasedStateMachine):
    """Edits of a tree, updates of its index, merges and killed writers."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp())
        self.root, self.home = self.place / "tree", self.place / "home"
        self.root.mkdir()
        write_tokenizer(self.place / "tokenizer.json")
        self.encoder = HashEncoder(self.place / "tokenizer.json")
        self.held: list[tuple[IndexReader, object]] = []
        self.config = IndexConfig()
        self.policy = plan_module.GROWTH, plan_module.DEAD_SHARE

    def teardown(self) -> None:
        self.compare_with_a_fresh_build()
        for index, _ in self.held:
            index.close()
        plan_module.GROWTH, plan_module.DEAD_SHARE = self.policy
        shutil.rmtree(self.place)

    def files(self) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*.*") if path.suffix)

    @initialize(
        files=st.dictionaries(PATHS, st.lists(FUNCTION, min_size=1, max_size=4), min_size=6, max_size=14),
        growth=st.sampled_from([0, 0, 3]),
        dead_share=st.sampled_from([0.3, 1.1]),
        content=st.sampled_from(list(CONTENT)),
    )
    def start(self, files, growth, dead_share, content) -> None:
        plan_module.GROWTH, plan_module.DEAD_SHARE = growth, dead_share
        self.change_content(content)
        for path, functions in files.items():
            self.write(path, functions)
        self.update()

    @rule(path=PATHS, functions=FUNCTIONS)
    def write(self, path, functions) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(source(functions, path))

    @rule(data=st.data(), functions=FUNCTIONS)
    @precondition(lambda self: self.files())
    def edit(self, data, functions) -> None:
        self.write(data.draw(st.sampled_from(self.files())), functions)

    @rule(data=st.data(), to=PATHS)
    @precondition(lambda self: self.files())
    def rename(self, data, to) -> None:
        (self.root / to).parent.mkdir(parents=True, exist_ok=True)
        (self.root / data.draw(st.sampled_from(self.files()))).rename(self.root / to)

    @rule(data=st.data(), to=PATHS)
    @precondition(lambda self: self.files())
    def copy(self, data, to) -> None:
        text = (self.root / data.draw(st.sampled_from(self.files()))).read_bytes()
        (self.root / to).parent.mkdir(parents=True, exist_ok=True)
        (self.root / to).write_bytes(text)

    @rule(data=st.data())
    @precondition(lambda self: self.files())
    def touch(self, data) -> None:
        (self.root / data.draw(st.sampled_from(self.files()))).touch()

    @rule(data=st.data())
    @precondition(lambda self: self.files())
    def delete(self, data) -> None:
        (self.root / data.draw(st.sampled_from(self.files()))).unlink()

    @rule()
    def time_passes(self) -> None:
        """Make all time stamps old enough to be trusted; the second update after this needs no walk."""
        now = time.time_ns()
        for path in (self.root, *self.root.rglob("*")):
            if (mtime_ns := path.stat().st_mtime_ns) > now - _AN_HOUR_NS:
                os.utime(path, ns=(now, mtime_ns - _AN_HOUR_NS))
        self.update()

    @rule(pattern=st.sampled_from(["", "a/\n", "*.rb\n", "one.*\n!a/one.py\n"]))
    def change_the_ignore_file(self, pattern) -> None:
        (self.root / ".gitignore").write_text(pattern)

    @rule(growth=st.sampled_from([0, 3, 1_000]))
    def change_how_much_is_merged(self, growth) -> None:
        plan_module.GROWTH = growth

    @rule(content=st.sampled_from(list(CONTENT)))
    def change_content(self, content) -> None:
        self.config = IndexConfig(walk=WalkConfig(content=content))

    @rule()
    def a_writer_is_killed(self) -> None:
        """Leave a partly written segment for the next writer."""
        folder = index_folder(self.home, self.root)
        stray = folder / segment_folder(last_number(folder) + 1)
        stray.mkdir(parents=True)
        (stray / "documents.sqlite").write_bytes(b"half")

    @rule()
    def hold_a_reader(self) -> None:
        index = IndexReader.open(index_folder(self.home, self.root))
        self.held.append((index, contents(index)))

    @rule()
    def update(self) -> None:
        build(self.root, self.home, self.encoder, config=self.config)

    @rule()
    def merge_everything(self) -> None:
        manifest = build(self.root, self.home, self.encoder, config=self.config, merge_all=True).manifest
        assert len(manifest.segments) <= 1
        assert not any(segment.dead_files for segment in manifest.segments)

    def searched(self, home: Path) -> list[list[tuple]]:
        index = IndexReader.open(index_folder(home, self.root))
        try:
            return [
                [
                    (hit.path, hit.start_line, hit.qualified_name, hit.score, tuple(hit.signals.items()))
                    for hit in Searcher([index], self.encoder, config).answer(request).hits
                ]
                for config in CONFIGS
                for request in REQUESTS
            ]
        finally:
            index.close()

    @invariant()
    def an_open_reader_reads_what_it_opened(self) -> None:
        for index, expected in self.held:
            assert contents(index) == expected

    @rule()
    def compare_with_a_fresh_build(self) -> None:
        self.update()
        fresh_home = self.place / "fresh"
        shutil.rmtree(fresh_home, ignore_errors=True)
        build(self.root, fresh_home, self.encoder, config=self.config)
        updated = IndexReader.open(index_folder(self.home, self.root))
        fresh = IndexReader.open(index_folder(fresh_home, self.root))
        try:
            assert contents(updated) == contents(fresh)
            for field in ("documents", "source_files", "languages", "not_indexed", "warnings"):
                assert getattr(updated.manifest, field) == getattr(fresh.manifest, field), field
            self.check_statistics(updated)
        finally:
            updated.close()
            fresh.close()
        assert self.searched(self.home) == self.searched(fresh_home)

    def check_statistics(self, index: IndexReader) -> None:
        """Compare N, df and lengths with a count over the live documents."""
        everything = contents(index)
        snapshot = Snapshot([index])
        assert snapshot.document_count == len(everything["documents"])
        lengths = np.array([entry[1] for entry in everything["documents"].values()]).reshape(-1, 5)
        means = lengths.sum(axis=0) / np.maximum((lengths > 0).sum(axis=0), 1)
        assert snapshot.average_lengths.tolist() == np.maximum(means, 1).tolist()
        found = {}
        for (term, _, document), frequency in everything["postings"].items():
            if frequency:  # A word outside of documents has frequency 0.
                found.setdefault(term, set()).add(document)
        lexical = LexicalScorer(snapshot, RankConfig())
        for term, documents in found.items():
            scores, idf, _ = lexical.scores([term])
            absent = snapshot.document_count - len(documents)
            assert np.count_nonzero(scores) == len(documents), term
            assert idf == np.log1p((absent + 0.5) / (len(documents) + 0.5)), term
        names = Counter(row[0].name for row in everything["documents"].values())
        for name, count in names.items():
            assert sum(exact == name for _, exact, _ in snapshot.named(name)) == count


class TestSomeHistoriesEndWithTheIndexOfAFreshBuild(Histories.TestCase):
    settings = settings(max_examples=4, stateful_step_count=15, phases=[Phase.generate])


@pytest.mark.thorough
class TestAnyHistoryEndsWithTheIndexOfAFreshBuild(Histories.TestCase):
    settings = settings(derandomize=False, max_examples=100, stateful_step_count=25)
