"""Files are ranked by their best definition, their other definitions and their names."""

from itertools import combinations

import pytest

from codesearch.config import RankConfig
from codesearch.search.request import SearchRequest
from codesearch.search.searcher import Searcher

SESSION = "def load():\n    '''Load the session.'''\n    return session\n"
OTHER_SESSION = SESSION.replace("return", "yield")
UNRELATED = "def unrelated():\n    return 1\n"
TREE = {
    "a.py": SESSION,
    "b.py": SESSION
    + "\n\ndef save():\n    '''Save the session.'''\n    return session\n"
    + "\n\ndef drop():\n    '''Drop the session.'''\n    return session\n",
    "z.py": UNRELATED,
}
MANY = TREE["b.py"] + "\n\ndef drop_all():\n    '''Drop every session.'''\n    return sessions\n"


def found(searcher: Searcher, query: str, top_k: int = 10) -> list[str]:
    hits = searcher.answer(SearchRequest(query, top_k, by_file=True)).hits
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    return [hit.path for hit in hits]


def test_each_file_is_one_hit_and_copies_of_its_best_definition_share_it(searcher_of):
    hits = searcher_of(TREE).answer(SearchRequest("load the session", by_file=True)).hits
    assert [(hit.path, hit.copies) for hit in hits] == [("b.py", ("a.py:1",)), ("z.py", ())]


def test_other_definitions_that_match_raise_a_file(searcher_of):
    of_tree = searcher_of(TREE)
    assert found(of_tree, "load the session")[0] == "b.py"
    best = of_tree.answer(SearchRequest("load the session", 1, by_file=True)).hits[0]
    assert best.name == "load" and best.parts["file_support"] > 0
    assert sum(best.parts.values()) == pytest.approx(best.score, abs=1e-5)


def test_the_support_of_a_file_leaves_out_the_penalties_that_choose_between_definitions(searcher_of):
    tree = searcher_of({"b.py": MANY})
    flat = tree.answer(SearchRequest("the session")).hits
    (best,) = tree.answer(SearchRequest("the session", 1, by_file=True)).hits
    assert all(hit.parts["file_diversity"] < 0 for hit in flat[1:])
    others = [hit.score - hit.parts["file_diversity"] for hit in flat[1:]]
    support = sum(0.8**place * score for place, score in enumerate(others, 1))
    assert best.signals["file_support"] == pytest.approx(support, abs=1e-5)


def test_only_five_other_definitions_support_a_file(searcher_of):
    names = ("load", "save", "drop", "keep", "list", "show", "move", "name", "send")
    code = "\n\n".join(f"def {name}():\n    '''The session.'''\n    return session\n" for name in names)
    tree = searcher_of({"b.py": code})
    flat = tree.answer(SearchRequest("the session", 9)).hits
    (best,) = tree.answer(SearchRequest("the session", 1, by_file=True)).hits
    others = [hit.score - hit.parts["file_diversity"] for hit in flat[1:6]]
    support = sum(0.8**place * score for place, score in enumerate(others, 1))
    assert len(flat) == 9 and best.signals["file_support"] == pytest.approx(support, abs=1e-5)


def test_definitions_with_negative_scores_do_not_lower_a_file(searcher_of):
    tree = searcher_of({"tests/test_b.py": MANY}, RankConfig(test_penalty=9.0))
    (best,) = tree.answer(SearchRequest("the session", 1, by_file=True)).hits
    assert (best.score < 0, best.signals["file_support"]) == (True, 0)


def test_a_hit_has_up_to_two_other_definitions_of_its_file(searcher_of):
    (best,) = searcher_of({"b.py": MANY}).answer(SearchRequest("the session", 1, by_file=True)).hits
    assert (best.path, best.rank) == ("b.py", 1)
    assert [(other.path, other.rank) for other in best.others] == [("b.py", 2), ("b.py", 3)]
    assert len({best.name, *(other.name for other in best.others)}) == 3
    assert all(other.code and not other.others for other in best.others)


def test_definitions_that_hardly_match_are_not_shown_with_the_best_one(searcher_of):
    tree = searcher_of({"b.py": f"{SESSION}\n\n{UNRELATED}"})
    assert [hit.others for hit in tree.answer(SearchRequest("load the session", by_file=True)).hits] == [()]


def test_other_definitions_have_at_least_a_third_of_the_best_score(searcher_of):
    words = "alpha bravo delta gamma omega sigma theta kappa lambda zeta".split()
    function = "def {}():\n    '''{}.'''\n    return 1\n\n\n"
    shares = {}
    for some in [*combinations(words, 1), *combinations(words, 2)][::4]:
        code = function.format("best", " ".join(words)) + function.format("other", " ".join(some))
        tree = searcher_of({"b.py": code})
        best, other = (hit.score for hit in tree.answer(SearchRequest(" ".join(words))).hits)
        (hit,) = tree.answer(SearchRequest(" ".join(words), by_file=True)).hits
        of_file = 0.2 * hit.score
        shares[(other + of_file) / (best + of_file)] = bool(hit.others)
    assert all(shown == (share >= 0.35) for share, shown in shares.items())
    assert min(shares) < 0.35 <= max(shares)


def test_a_screen_shows_the_best_definitions_of_all_files(searcher_of):
    tree = searcher_of({"a.py": OTHER_SESSION, "b.py": MANY})

    def shown(**fields):
        hits = tree.answer(SearchRequest("the session", 1, by_file=True, **fields)).hits
        return [(hit.path, len(hit.others)) for hit in hits]

    assert shown() == [("b.py", 2)]
    assert shown(screen=1) == [("b.py", 0)]
    assert shown(screen=3) == [("b.py", 1), ("a.py", 0)]
    assert shown(screen=9) == [("b.py", 3), ("a.py", 0)]


def test_the_other_definitions_of_a_hit_are_those_of_its_file(searcher_of):
    tree = searcher_of({"a.py": OTHER_SESSION, "b.py": MANY})
    hits = tree.answer(SearchRequest("the session", by_file=True)).hits
    assert {hit.path: len(hit.others) for hit in hits} == {"a.py": 0, "b.py": 3}


def test_a_list_of_definitions_has_no_others(searcher_of):
    assert {hit.others for hit in searcher_of(TREE).answer(SearchRequest("session")).hits} == {()}


def test_a_class_is_not_penalised_where_files_are_ranked(searcher_of):
    tree = searcher_of(
        {"a.py": 'class Session:\n    """Hold one session."""\n\n    name = "a"\n    size = 1\n'}
    )
    (flat,) = tree.answer(SearchRequest("what holds one session", 1)).hits
    (of_file,) = tree.answer(SearchRequest("what holds one session", 1, by_file=True)).hits
    assert flat.parts["data"] < 0 and "data" not in of_file.parts


def test_the_name_of_a_file_raises_it(searcher_of):
    tree = searcher_of({"other.py": SESSION, "sessions.py": OTHER_SESSION})
    assert found(tree, "load the session") == ["sessions.py", "other.py"]


def test_the_name_of_a_file_can_make_it_the_only_one_asked_for(searcher_of):
    weaker = OTHER_SESSION.replace("Load the session.", "Load it.")
    tree = searcher_of({"other.py": SESSION, "sessions.py": weaker})
    assert [hit.path for hit in tree.answer(SearchRequest("load the session", 1)).hits] == ["other.py"]
    assert found(tree, "load the session", 1) == ["sessions.py"]


def test_the_name_of_the_folder_counts_for_a_file_that_has_none_of_its_own(searcher_of):
    tree = searcher_of({"alpha/__init__.py": SESSION, "sessions/__init__.py": OTHER_SESSION})
    hits = tree.answer(SearchRequest("load the session", by_file=True)).hits
    named = [(hit.path, hit.signals["file_name"]) for hit in hits]
    assert named == [("sessions/__init__.py", 1), ("alpha/__init__.py", 0)]


def test_a_request_gets_as_many_files_as_it_asks_for(searcher_of):
    files = {f"f{number}.py": SESSION.replace("return", f"return {number},") for number in range(30)}
    assert len(found(searcher_of(files), "session", 20)) == 20


@pytest.mark.parametrize("name_weight", [0.0, 0.2])
def test_few_files_are_the_first_of_all_files(searcher_of, name_weight):
    """Files that can be none of the first are left out early."""
    strong = "def session():\n    '''Keep the session of a user.'''\n    return session\n"
    ranking = RankConfig(file_support_weight=2.0, file_name_weight=name_weight)
    tree = searcher_of(
        {"a.py": strong, "b.py": MANY, "session.py": OTHER_SESSION, "z.py": UNRELATED}, ranking
    )
    every = found(tree, "the session of a user")
    assert every[0] == "b.py"
    assert [found(tree, "the session of a user", count) for count in (1, 2, 3)] == [
        every[:count] for count in (1, 2, 3)
    ]


def test_other_conversions_do_not_raise_a_file_above_the_right_one(searcher_of):
    convert = "def int_to_{0}(number: int) -> {0}:\n    return {0}(number)\n\n\n"
    others = "".join(map(convert.format, ("float", "bytes", "bool", "list")))
    tree = searcher_of({"convert_int.py": others, "b.py": convert.format("str")})
    hits = tree.answer(SearchRequest("convert int to str", by_file=True)).hits
    assert [(hit.path, hit.name) for hit in hits][0] == ("b.py", "int_to_str")
    assert hits[1].path == "convert_int.py"
    assert not any(hit.parts[part] for hit in hits for part in ("file_support", "file_name"))


def test_the_file_of_a_named_definition_comes_before_files_with_more_support(searcher_of):
    names = ("load", "save", "drop", "show", "list", "send")
    code = "\n\n".join(f"def {name}():\n    '''Keep the session.'''\n    return keep\n" for name in names)
    tree = searcher_of(
        {"a.py": code, "z.py": "def keep():\n    return 1\n"}, RankConfig(file_support_weight=9.0)
    )
    assert found(tree, "keep", 1) == ["z.py"]
