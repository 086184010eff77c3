from collections import Counter
from pathlib import Path

import pytest

zstandard = pytest.importorskip("zstandard")

from codesearch.parsing.languages import LANGUAGES  # noqa: E402
from training.corpus import anonymous  # noqa: E402
from training.corpus.advtest import advtest_rows, drop_reason, is_english  # noqa: E402
from training.corpus.anonymous import anonymised  # noqa: E402
from training.corpus.rows import CsnRow, Row  # noqa: E402

# A function or method named `total` in each language, and the code with replaced names.
SAMPLES = {
    "python": (
        "def total(self, rows):\n    result = [row.cost for row in rows]\n    return self.total(result)",
        "def Func(arg_0, arg_1):\n    arg_2 = [arg_3.cost for arg_3 in arg_1]\n    return arg_0.Func(arg_2)",
    ),
    "javascript": (
        "total(rows, {rate = 1}) {\n const sum = rows.cost;\n return {sum, rate: sum * rate};\n}",
        "Func(arg_0, {rate: arg_1 = 1}) {\n const arg_2 = arg_0.cost;\n return {sum: arg_2, rate: arg_2 * arg_1};\n}",
    ),
    "typescript": (
        "function total(rows: Row[]): Row {\n const sum: Row = add(rows);\n return total(sum.rows);\n}",
        "function Func(arg_0: Row[]): Row {\n const arg_1: Row = add(arg_0);\n return Func(arg_1.rows);\n}",
    ),
    "tsx": (
        "function total(rows: Row[]) {\n return <Sum rows={rows}>rows</Sum>\n}",
        "function Func(arg_0: Row[]) {\n return <Sum rows={arg_0}>rows</Sum>\n}",
    ),
    "java": (
        "public int total(List<Row> rows) {\n int sum = 0;\n for (Row row : rows) sum += row.sum;\n"
        " return this.rows(sum);\n}",
        "public int Func(List<Row> arg_0) {\n int arg_1 = 0;\n for (Row arg_2 : arg_0) arg_1 += arg_2.sum;\n"
        " return this.rows(arg_1);\n}",
    ),
    "go": (
        "func (t *Table) total(rows []Row) (sum int) {\n for _, row := range rows {\n  sum += row.sum\n }\n"
        " return Row{sum: sum}.sum\n}",
        "func (arg_0 *Table) Func(arg_1 []Row) (arg_2 int) {\n for _, arg_3 := range arg_1 {\n"
        "  arg_2 += arg_3.sum\n }\n"
        " return Row{sum: arg_2}.sum\n}",
    ),
    "php": (
        "public function total(array $rows) {\n $sum = $this->sum;\n"
        " foreach ($rows as $row) { $sum += $row->sum; }\n return $sum;\n}",
        "public function Func(array $arg_0) {\n $arg_1 = $this->sum;\n"
        " foreach ($arg_0 as $arg_2) { $arg_1 += $arg_2->sum; }\n return $arg_1;\n}",
    ),
    "ruby": (
        'def total(rows, rate:)\n  sum = rows.map { |row| row.sum }\n  total sum\n  add(rate:)\n  "#{sum} sum"\nend',
        "def Func(arg_0, arg_1:)\n  arg_2 = arg_0.map { |arg_3| arg_3.sum }\n  Func arg_2\n  add(rate: arg_1)\n"
        '  "#{arg_2} sum"\nend',
    ),
    "bash": (
        'total() {\n  local sum=0 row\n  for row in $rows; do sum=$((sum + row)); done\n  total "$sum"\n}',
        'Func() {\n  local arg_0=0 arg_1\n  for arg_1 in $rows; do arg_0=$((arg_0 + arg_1)); done\n  Func "$arg_0"\n}',
    ),
    "c": (
        "static int *total(struct row *rows, int (*rate)(int)) {\n int sum = rows->sum;\n return total(rate(sum));\n}",
        "static int *Func(struct row *arg_0, int (*arg_1)(int)) {\n int arg_2 = arg_0->sum;\n"
        " return Func(arg_1(arg_2));\n}",
    ),
    "cpp": (
        "int Table::total(const Rows &rows) {\n for (auto &row : rows) sum(row.rows);\n return std::rows(rows);\n}",
        "int Table::Func(const Rows &arg_0) {\n for (auto &arg_1 : arg_0) sum(arg_1.rows);\n"
        " return std::rows(arg_0);\n}",
    ),
    "csharp": (
        "public int total(List<Row> rows) {\n var sum = rows.sum;\n return Add(sum: sum);\n}",
        "public int Func(List<Row> arg_0) {\n var arg_1 = arg_0.sum;\n return Add(sum: arg_1);\n}",
    ),
    "kotlin": (
        "fun total(rows: List<Row>): Int {\n val sum = rows.sum\n return add(sum = sum)\n}",
        "fun Func(arg_0: List<Row>): Int {\n val arg_1 = arg_0.sum\n return add(sum = arg_1)\n}",
    ),
    "lua": (
        "function Table.total(rows)\n local sum = {sum = rows.sum}\n return sum\nend",
        "function Table.Func(arg_0)\n local arg_1 = {sum = arg_0.sum}\n return arg_1\nend",
    ),
    "rust": (
        "fn total(&self, rows: Rows) -> Rows {\n let sum = rows.sum;\n"
        " match sum { Some(row) => row, None => Rows { sum } }\n}",
        "fn Func(&self, arg_0: Rows) -> Rows {\n let arg_1 = arg_0.sum;\n"
        " match arg_1 { Some(arg_2) => arg_2, None => Rows { sum: arg_1 } }\n}",
    ),
    "scala": (
        "def total(rows: Rows): Int = {\n val sum = rows.sum\n add(sum = sum)\n}",
        "def Func(arg_0: Rows): Int = {\n val arg_1 = arg_0.sum\n add(sum = arg_1)\n}",
    ),
    "swift": (
        "func total(of rows: [Row]) -> Int {\n let sum = rows.sum\n return add(sum: sum)\n}",
        "func Func(of arg_0: [Row]) -> Int {\n let arg_1 = arg_0.sum\n return add(sum: arg_1)\n}",
    ),
}


@pytest.mark.parametrize("language", SAMPLES)
def test_names_and_variables_are_replaced(language):
    code, expected = SAMPLES[language]
    assert anonymised(code, language) == expected


def test_every_query_has_a_sample_and_a_language_without_one_gives_nothing():
    queries = {path.stem for path in Path(anonymous.__file__).with_name("locals").iterdir()}
    named = {spec.name: spec.query or spec.name for spec in LANGUAGES if not spec.is_markup}
    assert {name for name, query in named.items() if query in queries} == set(SAMPLES)
    assert anonymised("# Title", "markdown") is None


@pytest.mark.parametrize("language", ["python", "javascript", "java", "go", "php", "ruby"])
def test_replacing_names_twice_changes_nothing(language):
    once = anonymised(SAMPLES[language][0], language)
    assert anonymised(once, language) == once


def test_strings_and_comments_keep_the_names():
    code = "def load(path):\n    # the path to load\n    print('load path', f'{path} path')\n    return path"
    assert anonymised(code, "python") == (
        "def Func(arg_0):\n    # the path to load\n    print('load path', f'{arg_0} path')\n    return arg_0"
    )


def test_imports_globals_and_nested_functions_keep_their_names():
    code = (
        "def run(job):\n    global count\n    import json as j\n    def inner(x):\n        return j.loads(x)\n"
        "    count = inner(job)\n    inner = cached(inner)\n    return count"
    )
    assert anonymised(code, "python") == (
        "def Func(arg_0):\n    global count\n    import json as j\n    def inner(arg_1):\n"
        "        return j.loads(arg_1)\n    count = inner(arg_0)\n    inner = cached(inner)\n    return count"
    )


def test_a_variable_with_the_name_of_its_function_is_a_variable():
    code = "def size(items):\n    size = len(items)\n    return size"
    assert anonymised(code, "python") == "def Func(arg_0):\n    arg_1 = len(arg_0)\n    return arg_1"


def test_an_argument_number_that_the_code_already_uses_is_skipped():
    assert (
        anonymised("def f(x):\n    return arg_0 + x\n", "python")
        == "def Func(arg_1):\n    return arg_0 + arg_1\n"
    )


def test_the_published_example_gives_the_published_result():
    code = (
        "def dailymotion_download(url, output_dir='.', merge=True, info_only=False, **kwargs):\n"
        "    html = get_content(rebuilt_url(url))\n    info = json.loads(match1(html, r'qualities'))\n"
        "    if not info_only:\n        download_urls([info], html, output_dir=output_dir, merge=merge)"
    )
    assert anonymised(code, "python") == (
        "def Func(arg_0, arg_1='.', arg_2=True, arg_3=False, **arg_4):\n"
        "    arg_5 = get_content(rebuilt_url(arg_0))\n    arg_6 = json.loads(match1(arg_5, r'qualities'))\n"
        "    if not arg_3:\n        download_urls([arg_6], arg_5, arg_1=arg_1, arg_2=arg_2)"
    )


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("def f(x:\n    return x", "python"),
        ("x = 1", "python"),
        ("function f(a) { return a", "javascript"),
        ("anything", "cobol"),
    ],
)
def test_code_that_does_not_parse_as_a_function_gives_none(code, language):
    assert anonymised(code, language) is None


@pytest.mark.parametrize(
    ("docstring", "count", "reason"),
    [
        ("Sort rows.", 2, "docstring under 3 tokens"),
        ("Sort the rows.", 3, ""),
        ("Sort the rows.", 256, ""),
        ("Sort the rows.", 257, "docstring over 256 tokens"),
        ("Shows <img src=x> of it", 6, "special token"),
        ("See HTTPS://example.org for more", 5, "special token"),
        ("Devuelve la suma de los elementos", 6, "not English"),
        ("Возвращает сумму всех строк", 4, "not English"),
        ("Returns the sum of the rows of la table", 9, ""),
    ],
)
def test_the_filter_names_the_reason_to_drop_a_docstring(docstring, count, reason):
    assert drop_reason(docstring, ["word"] * count) == reason


def test_an_imperative_without_function_words_counts_as_english():
    assert is_english("Sort rows.")
    assert not is_english("--- 42 ---")


def row(partition, code="def total(rows):\n    return sum(rows)", docstring="Sum up the rows."):
    return CsnRow(
        Row("a/b", "", "x.py", "T.total", "total", "python", code, docstring, "", partition),
        original_string="",
    )


def test_names_are_removed_from_all_fields_of_held_out_rows_only():
    dropped = Counter()
    broken = row("train", "def f(:\n")
    train, valid, test = advtest_rows([row("train"), broken, row("valid"), row("test")], dropped)
    assert train == row("train")
    assert valid.row.code == test.row.code == "def Func(arg_0):\n    return sum(arg_0)"
    assert (test.row.func_name, test.row.identifier, test.row.docstring) == (
        "Func",
        "Func",
        "Sum up the rows.",
    )
    assert "total" not in repr(test)
    assert dropped == {"does not parse": 1}


def test_a_long_function_is_processed_completely():
    body = "".join(f"    value_{number} = rows\n" for number in range(500))
    code = f"def total(rows):\n{body}    return (\n        rows\n    )"
    (kept,) = advtest_rows([row("test", code)], Counter())
    assert kept.row.code.startswith("def Func(arg_0):\n    arg_1 = arg_0\n")
    assert kept.row.code.endswith("    arg_500 = arg_0\n    return (\n        arg_0\n    )")
