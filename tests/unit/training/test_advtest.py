from collections import Counter
from dataclasses import replace

import pytest

from training.corpus.advtest import advtest_rows, anonymised, drop_reason, is_english
from training.corpus.rows import CsnRow, Row

CODE = "def total(self, rows):\n    result = [row.cost for row in rows]\n    return self.total(result)"
REPLACED = (
    "def Func(arg_0, arg_1):\n    arg_2 = [arg_3.cost for arg_3 in arg_1]\n    return arg_0.Func(arg_2)"
)


def test_names_and_variables_are_replaced_and_replacing_them_twice_changes_nothing():
    assert anonymised(CODE) == REPLACED
    assert anonymised(REPLACED) == REPLACED


def test_strings_and_comments_keep_the_names():
    code = "def load(path):\n    # the path to load\n    print('load path', f'{path} path')\n    return path"
    assert anonymised(code) == (
        "def Func(arg_0):\n    # the path to load\n    print('load path', f'{arg_0} path')\n    return arg_0"
    )


def test_imports_globals_and_nested_functions_keep_their_names():
    code = (
        "def run(job):\n    global count\n    import json as j\n    def inner(x):\n        return j.loads(x)\n"
        "    count = inner(job)\n    inner = cached(inner)\n    return count"
    )
    assert anonymised(code) == (
        "def Func(arg_0):\n    global count\n    import json as j\n    def inner(arg_1):\n"
        "        return j.loads(arg_1)\n    count = inner(arg_0)\n    inner = cached(inner)\n    return count"
    )


def test_a_variable_with_the_name_of_its_function_is_a_variable():
    code = "def size(items):\n    size = len(items)\n    return size"
    assert anonymised(code) == "def Func(arg_0):\n    arg_1 = len(arg_0)\n    return arg_1"


def test_an_argument_number_that_the_code_already_uses_is_skipped():
    assert anonymised("def f(x):\n    return arg_0 + x\n") == "def Func(arg_1):\n    return arg_0 + arg_1\n"


def test_the_published_example_gives_the_published_result():
    code = (
        "def dailymotion_download(url, output_dir='.', merge=True, info_only=False, **kwargs):\n"
        "    html = get_content(rebuilt_url(url))\n    info = json.loads(match1(html, r'qualities'))\n"
        "    if not info_only:\n        download_urls([info], html, output_dir=output_dir, merge=merge)"
    )
    assert anonymised(code) == (
        "def Func(arg_0, arg_1='.', arg_2=True, arg_3=False, **arg_4):\n"
        "    arg_5 = get_content(rebuilt_url(arg_0))\n    arg_6 = json.loads(match1(arg_5, r'qualities'))\n"
        "    if not arg_3:\n        download_urls([arg_6], arg_5, arg_1=arg_1, arg_2=arg_2)"
    )


@pytest.mark.parametrize("code", ["def f(x:\n    return x", "x = 1", "function f(a) { return a }"])
def test_code_that_is_no_function_of_python_gives_none(code):
    assert anonymised(code) is None


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
    other = CsnRow(replace(row("test").row, language="go"))
    train, valid, test = advtest_rows([row("train"), broken, row("valid"), other, row("test")], dropped)
    assert train == row("train")
    assert valid.row.code == test.row.code == "def Func(arg_0):\n    return sum(arg_0)"
    assert (test.row.func_name, test.row.identifier, test.row.docstring) == (
        "Func",
        "Func",
        "Sum up the rows.",
    )
    assert "total" not in repr(test)
    assert dropped == {"does not parse": 1, "not Python": 1}


def test_a_long_function_is_processed_completely():
    body = "".join(f"    value_{number} = rows\n" for number in range(500))
    code = f"def total(rows):\n{body}    return (\n        rows\n    )"
    (kept,) = advtest_rows([row("test", code)], Counter())
    assert kept.row.code.startswith("def Func(arg_0):\n    arg_1 = arg_0\n")
    assert kept.row.code.endswith("    arg_500 = arg_0\n    return (\n        arg_0\n    )")
