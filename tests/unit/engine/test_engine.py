"""The engine: index, search, freshness and status of one home, from several threads."""

import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from codesearch import Engine, Filters, IndexOptions, Place, Scope, SearchRequest
from codesearch.build import plan
from codesearch.cli.invocation import notes_of
from codesearch.engine.answer import Changes
from codesearch.engine.scope import covering_index
from codesearch.engine.session import AS_INDEXED
from codesearch.errors import ConfigError, IndexNotFoundError
from codesearch.store.catalogue import index_folder, writer_lock
from tests.conftest import write_tree


@pytest.fixture
def engine(home: Path, tiny_bundle: Path):
    engine = Engine(home, model=tiny_bundle, device="cpu")
    yield engine
    engine.close()


@pytest.fixture
def ready(engine: Engine, tiny_repo: Path) -> Engine:
    engine.index(tiny_repo)
    return engine


def names(answer) -> list[str]:
    return [hit.qualified_name for hit in answer.hits]


def test_a_folder_is_indexed_searched_and_up_to_date(engine, tiny_repo):
    report = engine.index(tiny_repo)
    assert (report.built, report.documents, report.parsed, report.removed) == (True, 13, 6, 0)
    answer = engine.search(SearchRequest("push", 2), Scope())
    assert names(answer) == ["Stack.push", "PriorityQueue.push"]
    assert (answer.documents, answer.mode, answer.device) == (13, "hybrid", "cpu")
    again = engine.index(tiny_repo)
    assert (again.built, again.documents, again.model) == (False, 13, "")


def test_a_large_file_of_data_is_a_small_part_of_the_progress(engine, tmp_path):
    code = {f"a{n}.py": f"def f{n}():\n    return '{'x' * 5_000}'\n" for n in range(10)}
    root = write_tree(tmp_path / "src", {**code, "z.ts": "<?xml?><TS>\n" + "<source/>\n" * 50_000})
    shares: list[float] = []
    engine.index(root, on_progress=lambda told: shares.append(told.done_bytes / told.total_bytes))
    assert 0.6 < shares[9] < 0.8 and shares[-1] == 1


def test_similar_code_is_found_for_a_place_without_the_place_itself(ready, tiny_repo):
    place = Place(tiny_repo / "python" / "convert.py", 5)
    answer = ready.session(Scope()).similar(place, SearchRequest(top_k=1))
    assert names(answer) == ["string_to_int"]
    assert (answer.mode, answer.query) == ("similar", f"{place.path}:5")
    assert names(ready.session(Scope()).similar(f"{place.path}:5", SearchRequest(top_k=1))) == [
        "string_to_int"
    ]


def test_a_definition_of_one_line_is_not_similar_to_itself(engine, tmp_path):
    lines = "function first(a) { return a + 1 }\nfunction other(a) { return a + 2 }\n"
    tree = write_tree(tmp_path / "tree", {"a.js": lines})
    engine.index(tree)
    assert names(engine.session(Scope((tree,))).similar(f"{tree}/a.js:1")) == ["other"]


def test_an_indexed_definition_and_the_same_text_elsewhere_have_the_same_similar_code(
    ready, tiny_repo, tmp_path
):
    copy = tmp_path / "convert.py"
    copy.write_bytes((tiny_repo / "python/convert.py").read_bytes())
    path = (tiny_repo / "python/convert.py", copy)
    stored, parsed = (
        ready.session(Scope()).similar(Place(place, 5), SearchRequest(top_k=20)).hits for place in path
    )
    keywords = {hit.qualified_name: hit.parts["keywords"] for hit in parsed}
    del keywords["int_to_string"]  # The place itself is a hit only for the copy.
    assert {hit.qualified_name: hit.parts["keywords"] for hit in stored} == pytest.approx(keywords)


def test_a_definition_of_a_file_that_changed_after_it_was_indexed_is_parsed(ready, tiny_repo):
    path = tiny_repo / "python/convert.py"
    path.write_text("\n\n\n\n" + path.read_text())
    # Line 9 was in `string_to_int`. Now it is in `int_to_string`, whose old place is most like it.
    found = ready.session(Scope(), AS_INDEXED).similar(Place(path, 9), SearchRequest(top_k=1))
    assert names(found) == ["int_to_string"]


def test_the_status_of_one_root_reads_no_other_index(ready, tiny_repo, tmp_path):
    other = write_tree(tmp_path / "other", {"a.py": "def f(): pass\n"})
    ready.index(other)
    shutil.rmtree(index_folder(ready.home, other) / "segments")
    (status,) = ready.status(tiny_repo, changes=True)
    assert (status.root, status.changes) == (str(tiny_repo), Changes(0, 0))
    with pytest.raises(IndexNotFoundError, match="is no folder and no imported index"):
        ready.status(tmp_path / "absent")


def test_without_a_scope_the_index_around_the_working_directory_is_searched(
    ready, tiny_repo, tmp_path, monkeypatch
):
    other = write_tree(tmp_path / "other", {"a.py": "def push_other():\n    return 1\n"})
    ready.index(other)
    monkeypatch.chdir(tiny_repo / "go")
    answer = ready.search("push")
    assert (answer.documents, {hit.root for hit in answer.hits}) == (13, {str(tiny_repo)})
    assert ready.session().similar(f"{tiny_repo}/python/convert.py:5").documents == 13
    monkeypatch.chdir(tmp_path)
    with pytest.raises(IndexNotFoundError, match=f"no index covers {tmp_path}"):
        ready.search("push")


def test_keyword_arguments_are_fields_of_the_request(ready, tiny_repo):
    scope = Scope(roots=[tiny_repo])
    filters = Filters(languages=["ruby"])
    assert names(ready.search("push", scope, top_k=1, filters=filters)) == ["PriorityQueue.push"]
    assert len(ready.search(SearchRequest("push", 9), scope, top_k=2).hits) == 2
    place = f"{tiny_repo}/python/convert.py:5"
    assert names(ready.session(scope).similar(place, top_k=1)) == ["string_to_int"]
    with pytest.raises(ValueError, match="top_k must be at least 1"):
        ready.search("push", scope, top_k=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'most'"):
        ready.search("push", scope, most=1)


def test_sequences_of_scopes_and_filters_are_kept_as_tuples():
    assert Scope(roots=["a"], within=["b"], folders=["c"]) == Scope(("a",), within=("b",), folders=("c",))
    assert len({Scope(roots=["a"]), Scope(roots=("a",)), Scope(roots="a")}) == 1
    assert hash(Filters(languages=["js"], kinds=["class"], paths="*.js")) == hash(
        Filters(("javascript",), ("class",), ("*.js",))
    )


def test_places_limit_the_hits_and_choose_the_index(ready, tiny_repo, tmp_path):
    other = write_tree(tmp_path / "other", {"ruby/a.py": "def push_other():\n    return 1\n"})
    ready.index(other)
    found = ready.search("push", Scope(within=(tiny_repo / "ruby", str(tiny_repo / "go" / "reader.go"))))
    assert {hit.path for hit in found.hits} == {"ruby/queue.rb", "go/reader.go"}
    assert found.documents == 13
    request = SearchRequest("push", filters=Filters(kinds=("function",)))
    assert names(ready.search(request, Scope(within=(tiny_repo / "python",), here=other))) == [
        "int_to_string",
        "string_to_int",
    ]
    assert names(ready.search("push", Scope((tiny_repo, other), within=(other,)))) == ["push_other"]
    request = SearchRequest("push", filters=Filters(within=(tiny_repo / "python",)))
    found = ready.search(request, Scope(within=(tiny_repo / "ruby",)))
    assert {hit.path for hit in found.hits} == {"ruby/queue.rb"}
    for place in (f"{tiny_repo}/python/convert.py:5", "int_to_string"):
        like = ready.session(Scope(within=(tiny_repo / "ruby",))).similar(place)
        assert {hit.path for hit in like.hits} == {"ruby/queue.rb"}


def test_an_answer_says_if_no_document_passes_the_filters(ready, tiny_repo):
    answer = ready.search(SearchRequest("push", filters=Filters(languages=("go",), paths=("*.rb",))), Scope())
    assert (answer.hits, answer.filters_match, answer.roots) == ([], False, (str(tiny_repo),))
    assert ready.search(SearchRequest("push", filters=Filters(languages=("go",))), Scope()).filters_match
    nothing_found = ready.search(
        SearchRequest("qzxv", mode="lexical", filters=Filters(languages=("go",))), Scope()
    )
    assert (nothing_found.hits, nothing_found.filters_match) == ([], True)


def test_in_an_empty_index_the_filters_are_not_the_reason_for_no_hits(engine, tmp_path):
    (tmp_path / "empty").mkdir()
    engine.index(tmp_path / "empty")
    assert engine.search("push", Scope()).filters_match
    assert not engine.search(SearchRequest("push", filters=Filters(kinds=("class",))), Scope()).filters_match


def test_files_of_nested_roots_are_found_in_the_inner_index(ready, tiny_repo):
    ready.index(tiny_repo / "ruby")
    ready.index(tiny_repo / "python")
    request = SearchRequest("push", top_k=20)
    for scope in (Scope(), Scope((tiny_repo, tiny_repo / "python", tiny_repo / "ruby"))):
        places = [f"{hit.root}/{hit.path}:{hit.start_line}" for hit in ready.search(request, scope).hits]
        assert len(places) == len(set(places)) == 13
        roots = {hit.root for hit in ready.search(request, scope).hits if hit.language in ("ruby", "python")}
        assert roots == {str(tiny_repo / "ruby"), str(tiny_repo / "python")}
    alone = ready.search(request, Scope((tiny_repo,)))
    assert len(alone.hits) == 13 and {hit.root for hit in alone.hits} == {str(tiny_repo)}
    filtered = replace(request, filters=Filters(kinds=("class",)))
    assert sorted(names(ready.search(filtered, Scope()))) == ["PriorityQueue", "Sorter", "Stack"]


def test_files_that_an_inner_root_excludes_are_not_found_in_the_outer_index(ready, tiny_repo):
    ready.index(tiny_repo / "ruby", IndexOptions(exclude=("*.rb",)))
    request = SearchRequest("push", filters=Filters(languages=("ruby",)))
    assert not ready.search(request, Scope()).filters_match
    assert names(ready.search(request, Scope((tiny_repo,))))[0] == "PriorityQueue.push"


def test_an_index_is_fresh_until_a_file_changes(ready, tiny_repo):
    assert ready.refresh(tiny_repo).state == "current"
    write_tree(tiny_repo, {"new.py": "def brand_new():\n    return 1\n"})
    assert ready.refresh(tiny_repo, budget_s=0).state == "behind"
    found = ready.refresh(tiny_repo)
    assert (found.state, found.changes) == ("updated", Changes(1, 0))
    assert "brand_new" in names(ready.search("brand_new", Scope()))
    (status,) = ready.status(tiny_repo)
    shutil.rmtree(tiny_repo)
    found = ready.refresh(tiny_repo)
    assert (found.state, found.changes) == ("behind", Changes(0, status.files))


def test_a_refresh_begins_with_the_last_commit_of_any_process(ready, tiny_repo, home):
    entry = covering_index(home, tiny_repo)
    write_tree(tiny_repo, {"new.py": "def brand_new():\n    return 1\n"})
    ready.index(tiny_repo)
    assert ready.refresh_entry(entry, 60.0).state == "current"


def test_a_refresh_does_not_make_an_index_new(ready, tiny_repo, monkeypatch):
    write_tree(tiny_repo, {"new.py": "def brand_new():\n    return 1\n"})
    monkeypatch.setattr(plan, "grammar_version", lambda spec: f"{spec.name} 99")
    assert ready.refresh(tiny_repo, budget_s=60.0).state == "behind"


def test_a_refresh_whose_walk_takes_too_long_answers_from_the_last_index(ready, tiny_repo, monkeypatch):
    assert ready.refresh(tiny_repo).state == "current"
    write_tree(tiny_repo, {"new/.gitignore": "x\n", "new/new.py": "def brand_new():\n    return 1\n"})
    monkeypatch.setattr("codesearch.engine.indexer._LEAST_WALK_S", -1.0)
    found = ready.refresh(tiny_repo, budget_s=-1.0)
    assert (found.state, found.changes) == ("behind", Changes(0, 0))
    assert notes_of([found]) == (
        f"note: {tiny_repo} has changed, and a query has no time to find out what: "
        f"run `codesearch index {tiny_repo}`, or keep `codesearch watch {tiny_repo}` running\n"
    )
    monkeypatch.undo()
    assert ready.refresh(tiny_repo).state == "updated"


def test_an_index_that_another_process_is_writing_is_locked(ready, tiny_repo, home):
    write_tree(tiny_repo, {"new.py": "def brand_new():\n    return 1\n"})
    with writer_lock(index_folder(home, tiny_repo), "tiny"):
        assert ready.refresh(tiny_repo).state == "locked"


def test_a_removed_index_is_no_longer_found(ready, tiny_repo):
    ready.search("push", Scope())
    ready.remove(tiny_repo)
    with pytest.raises(IndexNotFoundError, match="nothing is indexed"):
        ready.search("push", Scope())
    with pytest.raises(IndexNotFoundError, match="see `codesearch status`"):
        ready.remove(tiny_repo)


@pytest.mark.parametrize(
    ("request_", "error"),
    [(dict(mode="fuzzy"), ConfigError), (dict(top_k=0), ValueError), (dict(min_confidence=1.1), ValueError)],
)
def test_an_invalid_request_is_refused(request_, error):
    with pytest.raises(error):
        SearchRequest("x", **request_)


def test_threads_search_while_another_updates(ready, tiny_repo):
    stop = threading.Event()

    def search() -> int:
        count = 0
        while not stop.is_set() or not count:
            assert "Stack.push" in names(ready.search("push", Scope(), refresh=False))
            count += 1
        return count

    with ThreadPoolExecutor(4) as threads:
        searching = [threads.submit(search) for _ in range(4)]
        for number in range(5):
            write_tree(tiny_repo, {f"more{number}.py": f"def more{number}():\n    return {number}\n"})
            assert ready.index(tiny_repo).parsed == 1
        stop.set()
        assert all(one.result() > 0 for one in searching)
    assert ready.search("push", Scope()).documents == 18


def test_without_onnx_runtime_the_shipped_model_indexes_and_searches(tiny_repo, home, monkeypatch):
    monkeypatch.setattr("codesearch.text.onnx.has_runtime", lambda: False)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    engine = Engine(home)
    assert engine.index(tiny_repo).embedded == 13
    assert names(engine.search("put an element on top of a stack", Scope()))[0] == "Stack.push"
    assert {check.name: check.state for check in engine.verify()}["device"] == "ok"
    engine.close()


def test_usages_are_found_after_a_refresh_and_limited_to_the_places_of_the_scope(ready, tiny_repo):
    (tiny_repo / "use.py").write_text(
        "from python.convert import Stack\n\n\ndef use():\n    return Stack()\n"
    )
    answer = ready.session(Scope(here=tiny_repo)).usages("Stack", all_code=True)
    assert [(one.path, one.line, one.grade) for one in answer.found.usages] == [
        ("use.py", 1, "certain"),
        ("use.py", 5, "certain"),
    ]
    assert [one.state for one in answer.freshness] == ["updated"]
    assert answer.roots == (str(tiny_repo),)
    assert ready.session(Scope(within=[tiny_repo / "go"])).usages("Stack").found.usage_count == 0
