"""Answers as text, JSON and other formats."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from codesearch.cli.invocation import Terminal
from codesearch.cli.render import choose, excerpt, render, shown
from codesearch.cli.search import relevant
from codesearch.engine.answer import Answer
from codesearch.structure.text import MAX_LINE, Row, short_name
from codesearch.types import Hit, Passage
from tests.records import make_hit

HIT = make_hit(
    "def read(self):\n    return 1",
    start_line=3,
    path="a/b.py",
    name="read",
    qualified_name="File.read",
    signature="def read(self)",
    docstring="Read – all of it.",
    signals={"cosine": 0.25, "name": 0.0},
)
ANSWER = Answer("read", "hybrid", "nbow", "cpu", 1200, 0.0123, [HIT], confidence=0.83)
HERE = Terminal(Path("/src"))


def test_without_a_terminal_it_is_plain_text():
    assert render(ANSWER, "text", HERE) == (
        "a/b.py:3  File.read  function, 2 lines\n       3 | def read(self):\n       4 |     return 1\n\n"
        "1 hit from 1,200 documents in 12 ms, confidence 83%\n"
    )


def test_an_answer_without_a_confidence_does_not_mention_it():
    answer = replace(
        ANSWER, hits=[HIT, replace(HIT, end_line=3, last_line=3, code="def read(self):")], confidence=None
    )
    text = render(answer, "text", HERE)
    assert text.endswith("\n2 hits from 1,200 documents in 12 ms\n")
    assert "a/b.py:3  File.read  function\n" in text


@pytest.mark.parametrize(
    ("count", "told"), [(0, ""), (1, "  +1 copy"), (3, "  +3 copies"), (1200, "  +1,200 copies")]
)
def test_a_hit_shows_its_number_of_copies(count, told):
    answer = replace(ANSWER, hits=[replace(HIT, copies=("dist/b.py:9",) * min(count, 10), copy_count=count)])
    assert render(answer, "text", HERE).splitlines()[0] == f"a/b.py:3  File.read  function, 2 lines{told}"
    assert f"function, 2 lines{told}\x1b[0m" in render(
        answer, "text", replace(HERE, is_terminal=True, width=60)
    )
    assert render(answer, "vimgrep", HERE) == "a/b.py:3:1:def read(self)\n"
    assert json.loads(render(answer, "jsonl", HERE))["copy_count"] == count


def test_short_formats_print_one_line_per_hit_or_file():
    answer = replace(
        ANSWER, hits=[HIT, replace(HIT, start_line=9, end_line=9), replace(HIT, path="c.py", stale=True)]
    )
    assert render(answer, "compact", HERE) == (
        "a/b.py:3  File.read  function, 2 lines\na/b.py:9  File.read  function\n"
        "c.py:3  File.read  function, 2 lines  [changed since it was indexed]\n"
    )
    assert render(answer, "files", HERE) == "a/b.py\nc.py\n"


def test_paths_are_relative_below_the_working_directory_and_in_the_same_index():
    assert render(ANSWER, "vimgrep", HERE) == "a/b.py:3:1:def read(self)\n"
    assert render(ANSWER, "vimgrep", Terminal(Path("/src/a"))) == "b.py:3:1:def read(self)\n"
    assert render(ANSWER, "vimgrep", Terminal(Path("/src/lib/c"))) == "../../a/b.py:3:1:def read(self)\n"
    assert render(ANSWER, "vimgrep", Terminal(Path("/other"))) == "/src/a/b.py:3:1:def read(self)\n"


@pytest.mark.parametrize(("encoding", "escaped"), [("utf-8", False), ("UTF8", False), ("ascii", True)])
def test_json_is_escaped_for_an_encoding_that_needs_it(encoding, escaped):
    text = render(ANSWER, "json", Terminal(Path("/src"), encoding=encoding))
    assert ("\\u2013" in text) is escaped
    assert json.loads(text)["hits"][0]["docstring"] == HIT.docstring
    assert json.loads(render(ANSWER, "jsonl", HERE)) == json.loads(text)["hits"][0]


def test_variables_of_the_terminal_decide_about_colours():
    on = replace(HERE, is_terminal=True, width=60, variables={"TERM": "xterm-256color"})
    assert "\x1b[" in render(ANSWER, "text", on)
    off = replace(on, variables={"TERM": "xterm-256color", "NO_COLOR": "1"})
    assert "\x1b[36m" not in render(ANSWER, "text", off)
    dumb = replace(on, variables={"TERM": "dumb"})
    assert "\x1b" not in render(ANSWER, "text", dumb)


def test_colours_can_be_switched_on_and_off():
    on = replace(HERE, is_terminal=True, width=60, variables={"TERM": "xterm-256color"})
    assert render(ANSWER, "text", on, color="never") == render(ANSWER, "text", HERE)
    assert "\x1b[" in render(ANSWER, "text", HERE, color="always")


CODE = [
    "def load(path):",
    "    check(path)",
    "",
    "    log('start')",
    "    with open(path) as file:",
    "        text = file.read()",
    "    return text",
]
LONG = replace(HIT, start_line=10, end_line=16, code="\n".join(CODE))


def lines(hit, query="read a file", *, full=False, mode="hybrid"):
    chosen = choose(hit, replace(ANSWER, query=query, mode=mode), full=full)
    return excerpt(hit, chosen, HERE, full=full)


def test_a_snippet_is_the_first_line_and_the_lines_with_words_of_the_query():
    assert lines(LONG) == [(10, CODE[0]), (14, CODE[4]), (15, CODE[5])]
    assert lines(LONG, "something else") == [(10, CODE[0]), (11, CODE[1]), (13, CODE[3])]
    assert lines(LONG, "file.py:9", mode="similar") == [(10, CODE[0]), (11, CODE[1]), (13, CODE[3])]
    assert lines(LONG, full=True) == list(enumerate(CODE, start=10))


def test_with_context_a_snippet_is_the_first_lines_and_those_around_the_definition():
    long = replace(
        HIT, code="\n".join(f"    line {n}" for n in range(20)), before=("# above",), after=("# below",)
    )
    assert [number for number, _ in lines(long)] == [2, 3, 4, 5, 6, 7, 8]
    short = replace(HIT, before=("# above",), after=("# below",))
    assert lines(short) == [(2, "# above"), (3, "def read(self):"), (4, "    return 1"), (5, "# below")]


def test_a_long_line_is_cut_at_the_width_of_the_terminal_and_marked():
    long = replace(HIT, kind="module", code="x" * 500)
    assert lines(long) == [(3, "x" * (MAX_LINE - 1) + "…")]
    narrow = replace(HERE, is_terminal=True, width=40)
    ((_, text),) = excerpt(long, [0], narrow)
    assert text.endswith("x…") and len(text) == 29


def test_the_parts_of_a_score_add_up_to_it():
    hit = replace(
        HIT,
        score=0.5,
        signals={"cosine": 0.5, "length_prior": 0.8, "bm25_normalised": 0.25, "name": 0.0},
        parts={"vectors": 0.4, "keywords": 0.15, "name": 0.0, "file_diversity": -0.05},
    )
    text = render(replace(ANSWER, hits=[hit]), "text", HERE, explain=True)
    assert text.splitlines()[1:5] == [
        "  +0.400  vectors: cosine 0.500 x length prior 0.800",
        "  +0.150  keywords: BM25F 0.250 of the highest possible",
        "  -0.050  file_diversity",
        "  +0.500  score",
    ]
    assert "vectors" not in render(replace(ANSWER, hits=[hit]), "text", HERE)


def test_code_is_not_dim_on_a_terminal():
    on = replace(HERE, is_terminal=True, width=60, variables={"TERM": "xterm-256color"})
    (line,) = [line for line in render(ANSWER, "text", on).splitlines() if "return" in line]
    number, _, code = line.partition("│ ")
    assert number.startswith("\x1b[2m") and "\x1b[2" not in code


def test_force_color_applies_if_color_is_auto():
    assert "\x1b[" in render(ANSWER, "text", replace(HERE, variables={"FORCE_COLOR": "1"}))


def test_without_hits_there_is_no_confidence():
    assert render(replace(ANSWER, hits=[]), "text", HERE) == "no hits from 1,200 documents in 12 ms\n"


STABLE_FIELDS = [
    *"rank score root path language kind name qualified_name signature docstring".split(),
    *"start_line end_line last_line code signals parts stale before after copies copy_count".split(),
]
"""Other programs read these fields: change none."""


def test_the_fields_of_jsonl_keep_their_names_and_their_order():
    (line,) = render(ANSWER, "jsonl", HERE).splitlines()
    assert [name for name in json.loads(line) if name in STABLE_FIELDS] == STABLE_FIELDS


def test_the_name_of_a_file_does_not_split_a_line_of_jsonl():
    odd = replace(ANSWER, hits=[replace(ANSWER.hits[0], path="a\nb\r\x1b: c.py")])
    lines = render(odd, "jsonl", HERE).split("\n")
    assert (len(lines), lines[1]) == (2, "")
    assert json.loads(lines[0])["path"] == "a\nb\r\x1b: c.py"


LOOP = "def read(self):\n" + "\n".join(f"    step({number})" for number in range(4, 40))
PASSAGES = (Passage(20, 31, 0.9), Passage(4, 15, 0.5))
IN_LOOP = replace(HIT, code=LOOP, end_line=39, last_line=39, passages=PASSAGES)


def test_a_hit_in_a_long_function_shows_lines_of_its_passages_and_not_the_signature():
    rows = render(replace(ANSWER, query="step 25 or 9", hits=[IN_LOOP]), "text", HERE).splitlines()
    assert rows[:4] == [
        "a/b.py:3  File.read  function, 37 lines",
        "       9 | step(9)",
        "      25 | step(25)",
        "      26 | step(26)",
    ]
    assert rows[4] == ""


def test_vimgrep_leads_to_the_best_passage_and_json_has_them_all():
    answer = replace(ANSWER, hits=[IN_LOOP])
    assert render(answer, "vimgrep", HERE) == "a/b.py:20:1:def read(self)\n"
    assert json.loads(render(answer, "jsonl", HERE))["passages"] == [
        {"start_line": 20, "end_line": 31, "score": 0.9},
        {"start_line": 4, "end_line": 15, "score": 0.5},
    ]


def test_vimgrep_keeps_spaces_and_colons_of_a_name():
    odd = replace(
        ANSWER, hits=[replace(ANSWER.hits[0], path="c:1:2: d.py", copies=("e.py:1",), copy_count=1)]
    )
    assert render(odd, "vimgrep", HERE) == "c:1:2: d.py:3:1:def read(self)\n"


SCREEN = replace(HERE, is_terminal=True, width=80, height=24)
FIVE = replace(ANSWER, hits=[replace(LONG, others=(HIT, HIT)) for _ in range(5)])


MANY = replace(ANSWER, hits=[replace(LONG, path=f"a/b{n}.py", others=(HIT,) * (n < 4) * 3) for n in range(9)])


def rows_of(answer: Answer, terminal: Terminal = SCREEN, **options: bool) -> list[str]:
    return render(answer, "text", terminal, color="never", **options).splitlines()


def test_a_screen_has_a_row_for_each_definition_and_code_of_the_first_three():
    rows = rows_of(MANY)
    assert len(rows) == 22 and max(map(len, rows)) <= 80
    assert [row.split(":")[0] for row in rows if row.startswith("a/")] == [f"a/b{n}.py" for n in range(9)]
    code = [at for at, row in enumerate(rows) if " | " in row]
    assert (
        code == [1, 2, 3, 6, 7, 8, 11, 12] and render(MANY, "text", SCREEN, color="always").count("\n") == 22
    )
    assert all(row.startswith("a/b") and row.endswith("  File.read  (self)") for row in rows[:1] + rows[5:6])


def named(line: int, name: str, kind: str = "method", signature: str = "") -> Hit:
    own = name.rpartition(".")[2]
    return replace(HIT, start_line=line, name=own, qualified_name=name, kind=kind, signature=signature)


def test_other_definitions_of_a_file_share_rows_and_keep_their_line_kind_and_name():
    others = (
        named(7, "File.close"),
        named(123456, "ReaderOfEveryOrderedFile", "class"),
        named(9, "OrderedReaderOfManyFiles.read_all"),
        named(10, "write_everything_to_the_disk_now", "function"),
        named(11, "File.open", signature="def open(self, mode)"),
    )
    of = replace(ANSWER, hits=[replace(HIT, others=others)])
    assert rows_of(of, replace(SCREEN, height=15))[2:5] == [
        "     7  .close()   123456  class ReaderOfEveryOrderedFile   9  ….read_all()",
        "    10  write_everything_to_the_disk_now()   11  .open()",
        "1 hit from 1,200 documents in 12 ms, confidence 83%",
    ]
    assert rows_of(of, replace(SCREEN, width=50, height=18))[2:5] == [
        "     7  .close()   9  ….read_all()   11  .open()",
        "123456  class ReaderOfEveryOrderedFile",
        "    10  write_everything_to_the_disk_now()",
    ]


def test_a_definition_alone_in_its_row_has_its_parameters_and_the_best_ones_stay_if_room_is_short():
    others = tuple(replace(named(line, f"File.f{line}" + "x" * 40), score=float(line)) for line in (7, 8, 9))
    hit = replace(HIT, others=(*others[:2], replace(others[2], signature=f"def {others[2].name}(a, b)")))
    rows = rows_of(replace(ANSWER, hits=[hit, HIT, HIT]), replace(SCREEN, height=10))
    assert rows[2:4] == [f"     9  .f9{'x' * 40}(a, b)", "a/b.py:3  File.read  (self)"]


def test_a_name_behind_two_colons_does_not_read_as_a_global_one():
    others = [replace(named(7, "File::close"), name="close"), replace(named(9, "Other::close"), name="close")]
    others = [replace(other, language="cpp") for other in others]
    hit = replace(HIT, qualified_name="File::read", language="cpp", others=tuple(others))
    assert rows_of(replace(ANSWER, hits=[hit]))[2] == "     7  close()   9  Other::close()"


def test_a_function_whose_parameters_have_no_room_has_brackets():
    long = "Reader" * 9 + ".read"
    of = replace(HIT, qualified_name=long, path="a/longer/path/b.py")
    assert rows_of(replace(ANSWER, hits=[of]))[0] == f"a/…/path/b.py:3  {long}(…)"


def test_a_module_has_its_kind_and_not_a_piece_of_its_first_line():
    module = replace(HIT, kind="module", name="load", qualified_name="load", signature="load 'a', :b do")
    assert rows_of(replace(ANSWER, hits=[module]))[0] == "a/b.py:3  load  code"


def test_parameters_tell_overloads_apart():
    others = [
        replace(HIT, start_line=line, signature=f"def read(self, {names})")
        for line, names in ((50, "size"), (90, "one, of, many, parameters, that, are, long"))
    ]
    overloaded = replace(IN_LOOP, signature="def read(self, path)", others=(*others, named(7, "File.close")))
    rows = rows_of(replace(ANSWER, hits=[overloaded]))
    assert rows[0] == "a/b.py:3  File.read  (self, path)"
    assert rows[4:6] == [
        "    50  .read(self, size)   90  .read(self, one, of, many, pa…   7  .close()",
        "1 hit from 1,200 documents in 12 ms, confidence 83%",
    ]


def test_what_a_screen_has_room_for_is_code_of_the_best_hits():
    taller = rows_of(MANY, replace(SCREEN, height=30))
    files = [at for at, row in enumerate(taller) if row.startswith("a/")]
    ends = [*files[1:], len(taller) - 1]
    code = [sum(" | " in row for row in taller[at:end]) for at, end in zip(files, ends, strict=True)]
    assert code == [3, 3, 3, 3, 2, 0, 0, 0, 0] and len(taller) == 28


@pytest.mark.parametrize(
    ("answer", "terminal", "options", "count"),
    [
        (FIVE, replace(SCREEN, height=0), {}, 36),
        (FIVE, replace(SCREEN, height=10), {}, 36),
        (FIVE, replace(SCREEN, is_terminal=False), {}, 36),
        (FIVE, SCREEN, {"full": True}, 56),
    ],
)
def test_nothing_is_left_out_if_nothing_could_fit_or_more_is_asked_for(answer, terminal, options, count):
    assert len(rows_of(answer, terminal, **options)) == count


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("name", ["load", "n" * 70, "Shop.Web.Orders.OrderCatalogue.LoadAllOrdersOfCustomer"])
@pytest.mark.parametrize("path", ["a.cs", "Shop.Web/Orders/Catalogue/Implementation/OrderCatalogue.cs"])
def test_a_heading_is_one_row_and_keeps_the_file_the_line_and_the_end_of_the_name(width, name, path):
    hit = replace(LONG, path=path, language="csharp", qualified_name=name, others=())
    row, *_ = rows_of(replace(ANSWER, hits=[hit] * 5), replace(SCREEN, width=width))
    file = path.rpartition("/")[2]
    assert len(row) <= max(width, len(file) + 20) and f"{file}:10" in row.split()[0]
    assert row.split()[1].removesuffix("(…)").endswith(name[-10:])


def test_a_name_has_no_namespaces_that_the_path_has():
    hit = replace(HIT, path="Shop.Web/Orders/Catalogue.cs", language="csharp")
    names = ["Shop.Web.Orders.Catalogue.Load", "Other.Orders.Catalogue.Load", "Web.Load", "Load"]
    assert [
        short_name(replace(hit, qualified_name=name)) for name in names
    ] == "Catalogue.Load Other.Orders.Catalogue.Load Web.Load Load".split()


def coloured_lines(hit: Hit, query: str = "") -> list[str]:
    terminal = replace(SCREEN, height=0, variables={"TERM": "xterm-256color"})
    return render(replace(ANSWER, query=query, hits=[hit]), "text", terminal).splitlines()[1:-2]


DOCUMENTED = replace(
    HIT, code='def read(self):\n    """Return all.\n\n    It is in one piece if text.\n    """\n', end_line=7
)


def test_lines_inside_of_a_docstring_have_the_colour_of_strings():
    _, first, inner = coloured_lines(DOCUMENTED)
    assert "It is in one piece if text." in inner and "\x1b[33m" in inner and "\x1b[94" not in inner
    assert "\x1b[33m" in first


def test_words_of_the_query_are_bold_with_colours_only():
    first, *_, inner = coloured_lines(DOCUMENTED, "a piece to read")
    assert "\x1b[1;92mread\x1b[0m" in first and "\x1b[1;33mpiece\x1b[0m" in inner
    assert "\x1b" not in render(replace(ANSWER, hits=[DOCUMENTED]), "text", HERE)


def test_code_without_a_lexer_is_shown_without_colours():
    shader = replace(HIT, language="shader", code="void main() {\n  shine();")
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line)[11:] for line in coloured_lines(shader)]
    assert lines == ["void main() {", "  shine();"]
    svelte = coloured_lines(replace(HIT, language="svelte", code="function f() {}"))
    assert "\x1b[94mfunction\x1b[0m" in svelte[0]


@pytest.mark.parametrize("path", ["src/page.py", "app/(shop)/page.py", "(shop)/page.py"])
def test_a_place_and_the_code_below_it_have_colours_whatever_the_names_of_its_folders(path):
    rows = [
        Row(place=f"{path}:3-9", name="  Page", more="  class"),
        Row(about="     3 | ", code="class Page:"),
    ]
    place, code = shown(rows, SCREEN, "always").splitlines()
    assert place.startswith(f"\x1b[36m{path}:3-9\x1b[0m\x1b[1m  Page\x1b[0m")
    assert "\x1b[94mclass\x1b[0m" in code
    folder = path.removesuffix("page.py")
    row = Row(place=f"  {folder}", more="  (Page)")
    assert shown([row], SCREEN, "always").startswith(f"\x1b[36m  {folder}\x1b[0m")


def test_a_row_is_its_parts_cut_at_the_width_with_escapes_for_what_is_not_safe_to_print():
    row = Row(12, about="1 | ", code="a\tb\x1b and more")
    assert (row, row.parts) == ("1 | a\tb\\x1b…", {"about": "1 | ", "code": "a\tb\\x1b and more"})
    assert shown([Row(9, name="load_all", more="  function")], SCREEN, "always").startswith(
        "\x1b[1mload_all\x1b[0m"
    )


def test_code_that_is_too_long_to_colour_and_code_with_odd_characters_is_shown_whole():
    long = f"    y = {'1' * 40}"
    odd = replace(HIT, code="def read(self):\r\n\tx = 'a\x1b\x0c'  # \ufeff\n\n" + f"{long}\n" * 1_400)
    (full,) = render(replace(ANSWER, hits=[odd]), "text", SCREEN, full=True).splitlines()[-4:-3]
    assert full.endswith(long)
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line)[11:] for line in coloured_lines(odd)] == [
        "def read(self):",
        r"    x = 'a\x1b\x0c'  # \ufeff",
        long,
    ]


def test_a_name_always_has_a_part_of_its_row_even_next_to_a_long_file_name():
    answer = replace(ANSWER, hits=[replace(HIT, path=f"db/{'x' * 70}.py")])
    terminal = replace(HERE, is_terminal=True, width=80, height=24)
    heading = render(answer, "text", terminal, color="never").splitlines()[0]
    assert heading == f"…{'x' * 34}.py:3  File.read(…)"


def test_what_the_query_names_has_its_code_from_the_top_and_the_rest_is_counted():
    code = "\n".join(["def read(self):", *(f"    step({n})" for n in range(40))])
    hits = [replace(HIT, code=code, end_line=43, last_line=43, signals={"name": 1.0})] * 2
    rows = rows_of(replace(ANSWER, hits=hits))
    assert rows[1:3] == ["       4 | step(0)", "       5 | step(1)"]
    assert rows[8:11] == [
        "      11 | step(7)",
        "       …   32 more lines: codesearch read a/b.py:3",
        "a/b.py:3  File.read  (self)",
    ]
    assert len(rows) == 22


def test_hits_that_probably_do_not_answer_have_no_code():
    rows = rows_of(replace(MANY, low_confidence=True))
    assert len(rows) == 14 and not any(" | " in row for row in rows)


@pytest.mark.parametrize(
    ("kind", "name", "signature", "shown"),
    [
        ("method", "Cart::Cart", "Cart::Cart(int size) : Base(size)", "Cart::Cart  (int size) : Base(size)"),
        ("class", "Cart", "class Cart : public Base", "Cart  class : public Base"),
        ("method", "get", "get getter(x)", "get  getter(x)"),
        ("class", "C" * 60, "class " + "C" * 60 + " extends Base", "C" * 60 + "  class"),
    ],
)
def test_a_heading_says_what_stands_behind_the_name_or_the_kind(kind, name, signature, shown):
    hit = replace(HIT, kind=kind, signature=signature, qualified_name=name, language="cpp")
    assert (
        rows_of(replace(ANSWER, hits=[replace(hit, name=name.rpartition(":")[2])]))[0] == f"a/b.py:3  {shown}"
    )


def test_a_large_screen_ends_where_relevance_ends():
    """Fifty definitions of one file, and files: the first ones stay, and the others if they are good enough."""
    others = tuple(replace(HIT, start_line=line, score=(100 - line) / 100) for line in range(10, 60))
    weak = tuple(replace(HIT, start_line=line, score=0.1) for line in range(10, 60))
    files = [replace(HIT, path=f"{at}.py", score=1.0 - at / 20) for at in range(16)]
    shown = relevant([replace(files[0], others=others), replace(files[1], others=weak), *files[2:]])
    assert [hit.path for hit in shown] == [f"{at}.py" for at in range(12)]
    assert [len(hit.others) for hit in shown[:3]] == [50, 0, 0]
    assert len(relevant([replace(files[0], others=weak)])[0].others) == 50
    assert relevant([]) == []
