"""Command lines of many clients are answered at the same time in one process."""

import json
import threading

import typer.main

from codesearch import Engine
from codesearch.cli.main import answering, run
from codesearch.engine.pool import Pool
from codesearch.service.client import facts
from tests.conftest import write_tree


def test_no_client_gets_the_answer_to_the_question_of_another(tmp_path, monkeypatch):
    """The second command line arrives while Typer collects the arguments of the first."""
    tree = write_tree(tmp_path / "tree", {"a.py": "def open_pigeon(): return 1\n"})
    home, pool = tmp_path / "home", Pool()
    Engine(home, pool=pool).index(tree)
    answer = answering(pool, ("query",))
    queries: dict[str, str] = {}

    def ask(name: str) -> None:
        options = ("--json", "--root", str(tree), "--home", str(home))
        out, _, code, _ = answer(facts(("query", name, *options)))
        assert code == 0
        queries[name] = json.loads(out)["query"]

    second = threading.Thread(target=ask, args=("weigh pigeon",))
    context_of = typer.main.get_current_context

    def interrupted() -> typer.Context:
        context = context_of()
        if context.info_name == "query" and not second.ident:
            second.start()
            second.join(timeout=1)
        return context

    monkeypatch.setattr(typer.main, "get_current_context", interrupted)
    ask("open pigeon")
    second.join()
    assert queries == {"open pigeon": "open pigeon", "weigh pigeon": "weigh pigeon"}


def test_a_defect_is_one_line_and_exits_with_2(monkeypatch, capsys):
    monkeypatch.setattr("codesearch.cli.main.make_command", lambda _: [][0])
    assert run(["outline"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "please report it: IndexError: list index out of range (test_answering.py:" in line
