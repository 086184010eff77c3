"""Which lines of a hit explain it, and its signature as one line."""

from dataclasses import replace

import pytest

from codesearch.search.snippets import head_lines, snippet_lines
from codesearch.types import Hit, Passage
from tests.records import make_hit

HIT = make_hit(
    "def load(\n    path: Path,\n    strict: bool = True,\n) -> Config:\n    check(path)\n    return parse(path)",
    start_line=10,
    signature="def load(path: Path, strict: bool = True,) -> Config",
)


def shown(hit: Hit, query: str, count: int = 3) -> list[str]:
    lines = hit.code.split("\n")
    return [lines[at].strip() for at in sorted(snippet_lines(hit, query, "hybrid", count))]


def test_a_signature_over_several_lines_takes_one_place():
    assert head_lines(HIT) == range(4)
    assert shown(HIT, "strict path") == ["def load(", "check(path)", "return parse(path)"]


@pytest.mark.parametrize(
    ("signature", "code", "expected"),
    [
        ("public void push(int item)", "@Override\npublic void push(int item) {\n}", range(1, 2)),
        ("function go(a, b)", "export function go(\n  a,\n  b\n) {\n  return a;\n}", range(4)),
        ("(req, res) =>", "app.get('/users', (req, res) => {\n  find();\n})", range(1)),
        ("def f(a, b)", "def f(\n    a,  # one (of\n    b,\n):\n    pass", range(1)),
        ("", "x = 1\ny = 2", range(1)),
        (
            "static int run(char *a, int b)",
            "static int\nrun(char *a,\n    int b)\n{\n    return 1;\n}",
            range(3),
        ),
        ("struct cell * top(void)", "struct cell *\ntop(void) {\n    return 0;\n}", range(2)),
        (
            "fn f<F>(a: F) -> T where F: Fn()",
            "fn f<F>(a: F) -> T\nwhere\n    F: Fn(),\n{\n    a()\n}",
            range(3),
        ),
        ("int f(void)", "int\n/* why */\nf(void)\n{\n}", range(1)),
    ],
)
def test_the_lines_of_a_signature_are_found(signature, code, expected):
    assert head_lines(replace(HIT, signature=signature, code=code)) == expected


def test_of_two_nearly_equal_lines_only_the_first_is_shown():
    code = (
        "fn run(self) {\n"
        "    self.block_on(Box::pin(future), Meta::unnamed(size));\n"
        "    self.block_on(future, Meta::unnamed(size));\n"
        "    size\n}"
    )
    hit = replace(HIT, signature="fn run(self)", code=code)
    assert shown(hit, "block on a future") == [
        "fn run(self) {",
        "self.block_on(Box::pin(future), Meta::unnamed(size));",
        "size",
    ]


def test_lines_with_three_of_four_terms_in_common_are_nearly_equal():
    code = "def load():\n    apple(banana, cherry)\n    apple(banana, cherry, damson)\n    apple(elder)"
    lines = shown(replace(HIT, signature="def load()", code=code), "apple")
    assert lines == ["def load():", "apple(banana, cherry)", "apple(elder)"]


def test_an_annotation_is_shown_only_if_it_matches_the_query():
    code = '@GetMapping("/users")\npublic List<User> all() {\n    return repository.findAll();\n}'
    hit = replace(HIT, signature="public List<User> all()", code=code)
    assert shown(hit, "repository") == ["public List<User> all() {", "return repository.findAll();"]
    assert shown(hit, "get mapping", 2) == ['@GetMapping("/users")', "public List<User> all() {"]


def test_the_lines_of_a_passage_are_code_not_documentation():
    code = 'def load(path):\n    """Load the path.\n\n    The path of a file.\n    """\n    check(path)\n    return 1'
    hit = make_hit(code, start_line=1, signature="def load(path)")
    hit = replace(hit, end_line=7, last_line=7, passages=(Passage(1, 6, 0.9),))
    assert shown(hit, "the path of a file", 1) == ["check(path)"]
