"""Import statements of all languages name the files of definitions."""

import pytest

from codesearch.structure.imports import by_module, import_statements


def named(language: str, text: str, *paths: str, at: str = "src/app.x", name: str = "Stack") -> list[str]:
    """Return the paths that agree in the most parts with the statements that have the name."""
    modules = by_module((path, path) for path in paths)
    found = [
        entry
        for statement in import_statements(text, at, language)
        if name in statement.words or statement.opens_all
        for entry in statement.agreeing(modules, name)
    ]
    best = max((score for score, _ in found), default=0)
    return sorted({path for score, path in found if score == best})


@pytest.mark.parametrize(
    ("language", "text", "path"),
    [
        ("python", "from lib.stack import Stack\n", "lib/stack.py"),
        ("python", "from lib.stack import (\n    Queue,\n    Stack,\n)\n", "lib/stack.py"),
        ("python", "from lib import Stack\n", "lib/__init__.py"),
        ("python", "from .stack import Stack as S\n", "src/stack.py"),
        ("python", "if True:\n    from ..lib.stack import Stack\n", "lib/stack.py"),
        ("javascript", "import { Queue, Stack } from './stack.js';\n", "src/stack.js"),
        ("typescript", "import {\n  Queue,\n  Stack,\n} from '../lib/stack'\n", "lib/stack.ts"),
        ("typescript", "export { Stack } from './lib'\n", "src/lib/index.ts"),
        ("javascript", "const { Stack } = require('./stack')\n", "src/stack.js"),
        ("java", "import org.lib.Stack;\n", "main/org/lib/Stack.java"),
        ("java", "import org.lib.*;\n", "main/org/lib/Stack.java"),
        ("kotlin", "import org.lib.Stack\n", "org/lib/Stack.kt"),
        ("scala", "import org.lib.{Queue, Stack}\n", "org/lib/Stack.scala"),
        ("rust", "use crate::lib::stack::Stack;\n", "src/lib/stack.rs"),
        ("rust", "pub use lib::{\n    queue::Queue,\n    stack::Stack,\n};\n", "src/stack.rs"),
        ("php", "use App\\Lib\\Stack;\n", "src/App/Lib/Stack.php"),
        ("csharp", "using App.Lib;\n", "App/Lib/Stack.cs"),
        ("c", '#include "stack.h"\n', "src/stack.c"),
        ("cpp", "#  include <lib/stack.hpp>\n", "lib/stack.cpp"),
        ("objc", '#import "Stack.h"\n', "Stack.m"),
        ("ruby", "require_relative '../lib/stack'\n", "lib/stack.rb"),
        ("bash", "source lib/stack.sh\n", "lib/stack.sh"),
        ("bash", ". ./stack.sh\n", "src/stack.sh"),
        ("lua", 'local Stack = require("lib.stack")\n', "lib/stack.lua"),
        ("zig", 'const Stack = @import("stack.zig").Stack;\n', "stack.zig"),
        ("elixir", "  alias Lib.Stack\n", "lib/stack.ex"),
        ("haskell", "import qualified Lib.Stack as S\n", "Lib/Stack.hs"),
        ("ocaml", "open Stack\n", "stack.ml"),
        ("julia", 'include("stack.jl")\n', "stack.jl"),
        ("dart", "import 'package:app/stack.dart' show Stack;\n", "lib/stack.dart"),
        ("swift", "import Lib\n", "Lib/Stack.swift"),
        ("go", 'import (\n\t"fmt"\n\tStack "example.org/lib/stack"\n)\n', "lib/stack/new.go"),
    ],
)
def test_an_import_names_the_file_of_a_definition(language, text, path):
    assert named(language, text, path, "other/queue.x") == [path]


def test_the_file_with_more_equal_parts_is_meant():
    text = "from ..lib.stack import Stack\n"
    assert named("python", text, "lib/stack.py", "old/stack.py") == ["lib/stack.py"]
    assert named("python", "from lib.v2 import Stack\n", "lib/v2.py", "lib/v1.py") == ["lib/v2.py"]
    assert named("python", "from stack import Stack\n", "lib/stack.py", "old/stack.py") == [
        "lib/stack.py",
        "old/stack.py",
    ]


def test_an_import_from_elsewhere_names_no_file():
    assert named("python", "from queue import Stack\n", "lib/stack.py") == []
    assert named("c", '#include "queue.h" /* stack */\n', "src/stack.c") == []
    assert named("python", "x = 'from stack import Stack'\n", "lib/stack.py") == []


def test_a_statement_in_a_line_of_five_megabytes_takes_little_time():
    text = "import a, " * 500_000 + "\n" + "from b import (" + "c, " * 1_000_000
    found = import_statements(text, "a.py", "python")
    assert [len(one.text) for one in found] == [4_000, 4_000]
