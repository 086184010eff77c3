"""Answers that are enough for an agent."""

import pytest

from codesearch.agents.text import usages_text
from codesearch.engine.brief import Brief, make_brief
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.search.request import Filters, SearchRequest

TREE = {
    "pyproject.toml": "",
    "shop/rules.py": (
        "def save_rule(rule, store):\n    store.put(rule)\n\n\n"
        "def apply_rules(store):\n    for rule in store:\n        save_rule(rule, store)\n"
    ),
    "shop/tokens.py": "def is_expired(token, now):\n    return token.expires < now\n",
    "shop/menu.py": "def draw_menu(screen):\n    screen.clear()\n",
    "tests/test_rules.py": "from shop.rules import save_rule\n\n\ndef test_save_rule():\n    save_rule(1, [])\n",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    root = tmp_path_factory.mktemp("brief") / "src"
    for path, text in TREE.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    engine = Engine(root.parent / "home")
    engine.index(root)
    yield engine.session(Scope((root,)))
    engine.close()


def brief_of(session, query: str, lines: int = 45, **fields: object) -> Brief:
    return make_brief(session, SearchRequest(query, **fields), lines, with_usages=True)


def names(brief: Brief) -> list[str]:
    return [excerpt.hit.name for excerpt in brief.excerpts]


def test_a_name_has_its_definition_callers_and_tests_and_nothing_else(session):
    brief = brief_of(session, "save_rule")
    assert names(brief) == ["save_rule"] and brief.is_name
    assert [(one.path, one.line) for one in brief.callers] == [("shop/rules.py", 7)]
    assert [(one.path, one.line) for one in brief.tests] == [("tests/test_rules.py", 5)]


def test_usages_in_tests_have_names_and_lines_without_code_and_are_all_counted(session):
    answer = session.usages("save_rule", tests=True)
    text = usages_text(answer, lambda _, path: path, 500, tests=True)
    assert "tests/test_rules.py\n  test_save_rule\n5:\n" in text and "more" not in text


def test_tests_are_left_out_unless_the_question_asks_for_them(session):
    shown = brief_of(session, "save a rule in a store")
    assert "test_save_rule" not in [*names(shown), *(hit.name for hit in shown.others)]
    assert "test_save_rule" in names(brief_of(session, "tests that save a rule"))


def test_each_idea_of_a_question_has_a_definition_or_is_named(session):
    both = brief_of(session, "rules are saved in a store after the token is expired", top_k=2)
    assert {"is_expired"} < set(names(both)) and not both.uncovered
    one = brief_of(session, "save the rule in a store; upload invoices through a printer queue")
    assert "save_rule" in names(one) and one.uncovered == ["upload invoices through a printer queue"]


def test_the_best_definition_is_shown_even_if_its_score_is_negative(tmp_path):
    (tmp_path / "a.py").write_text("def f():\n    pass\n")
    engine = Engine(tmp_path / "home")
    engine.index(tmp_path)
    brief = brief_of(engine.session(Scope((tmp_path,))), "read a file")
    engine.close()
    assert brief.answer.hits[0].score < 0 and names(brief) == ["f"]


def test_with_few_lines_for_many_hits_only_places_are_there(session):
    brief = brief_of(session, "save a rule", 20, top_k=30)
    assert brief.is_list and len(brief.excerpts) > 2 and not any(one.lines for one in brief.excerpts)


def test_what_the_shown_lines_call_is_named(session):
    brief = brief_of(session, "apply all rules of a store", top_k=1)
    assert names(brief) == ["apply_rules"]
    assert [(one.path, one.start_line) for one in brief.called] == [("shop/rules.py", 1)]


def test_a_question_of_several_ideas_without_a_hit_has_an_empty_answer(session):
    question = "rules are saved in a store after the token is expired"
    assert not brief_of(session, question, filters=Filters(paths=("nothing/",))).excerpts
