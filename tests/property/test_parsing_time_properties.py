"""The time of a file grows with its size, whatever there is many times in it."""

from time import process_time

import pytest

from codesearch.languages import language_named
from codesearch.parsing.extract import extract

_FEW, _TIMES, _TRIES = 1_000, 4, 3


def _seconds(language: str, head: str, unit: str, tail: str, count: int) -> float:
    source = (head + "".join(unit.replace("#", str(number)) for number in range(count)) + tail).encode()
    began = process_time()
    extract(source, "file", language_named(language))
    return process_time() - began


@pytest.mark.parametrize(
    ("language", "head", "unit", "tail"),
    [
        ("python", "", "a# = #\n", ""),
        ("python", "", "f(#)\n", ""),
        ("python", "", "'''text #'''\n", ""),
        ("python", "x = [\n", "    #,\n", "]\n"),
        ("python", "", 'def f#():\n    """Of #."""\n    return #\n', ""),
        ("python", "class A:\n", "    @property\n    def f#(self):\n        return #\n", ""),
        ("go", "package a\nconst (\n", "\tA# = #\n", ")\n"),
        ("go", "package a\n", "// Of #.\nvar a# = #\n", ""),
        ("javascript", "", "f#(() => {\n  a;\n  b;\n});\n", ""),
        ("javascript", "x = {\n", "  a#: #,\n", "};\n"),
        ("c", "", "#define A# 1\n", ""),
        ("c", "enum e {\n", "  A#,\n", "};\n"),
        ("c", "struct s {\n", "  int m# __private;\n", "};\n"),
        ("ruby", "", "A# = #\n", ""),
        ("rust", "", "const A#: u8 = 1;\n", ""),
        ("java", "class A {\n", "  int f#() { return 1; }\n", "}\n"),
        ("haskell", "", "f x = #\n", ""),
        ("protobuf", "message B {\n", "  message A# { int32 a = 1; }\n", "}\n"),
        ("sql", "", "create table a# (x int);\n", ""),
        ("python", "", "f(", ")"),
        ("c", "", "int f#(int a);\n", ""),
        ("c", "/*", "a # ", "*/\n"),
        ("cpp", "class A {\n", "  int f#(int a) const;\n", "};\n"),
        ("javascript", "x = `", "a # ", "`;\n"),
        ("ocaml", "type t = [\n", "  | `A#\n", "]\n"),
    ],
)
def test_four_times_as_many_take_about_four_times_as_long(language, head, unit, tail):
    for _ in range(_TRIES):  # Other processes may slow down a try.
        few, many = (_seconds(language, head, unit, tail, count) for count in (_FEW, _TIMES * _FEW))
        if many < 2 * _TIMES * few + 0.05:
            return
    pytest.fail(f"{few:.2f} s for {_FEW}, {many:.2f} s for {_TIMES * _FEW}")
