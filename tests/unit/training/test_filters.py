import pytest

from codesearch.parsing.extract import extract
from codesearch.parsing.languages import language_named
from training.corpus.filters import split_docstring, to_row
from training.corpus.recipe import SourcePackage
from training.corpus.rows import Row

PACKAGE = SourcePackage("python", "pypi", "things", "someone/things", "MIT")


def results(source, language="python"):
    documents = extract(source.encode(), "a", language_named(language)).documents
    return {document.name: to_row(document, PACKAGE) for document in documents}


def test_a_documented_function_becomes_a_row_without_its_docstring_in_the_code():
    docstring = '"""Read a file\n    into lines.\n\n    Slow.\n    """'
    source = f"def read_all(path):\n    {docstring}\n    f = open(path)\n    return list(f)\n"
    row = results(source)["read_all"]
    assert isinstance(row, Row)
    assert row.docstring == "Read a file into lines."
    assert row.docstring_rest == "Slow."
    assert "Slow" not in row.code and row.code.startswith("def read_all(path):")
    assert (row.repo, row.package, row.func_name) == ("someone/things", "things", "read_all")


@pytest.mark.parametrize(
    ("source", "name", "reason"),
    [
        ("def f(x):\n    y = x\n    return y\n", "f", "no docstring"),
        ('def f(x):\n    """Too short."""\n    y = x\n    return y\n', "f", "docstring under 3 tokens"),
        ('def f(x): return x; "Three words here"\n', "f", "no docstring"),
        ('def test_f(x):\n    """Check that it works."""\n    y = x\n    return y\n', "test_f", "test"),
        (
            'class A:\n    def __str__(self):\n        """Show it as text."""\n        y = 1\n        return y\n',
            "__str__",
            "constructor or standard method",
        ),
    ],
)
def test_a_filter_names_itself_when_it_drops(source, name, reason):
    assert results(source)[name] == reason


def test_a_function_of_one_line_is_dropped():
    source = "// Add adds two numbers.\nfunc Add(a int) int { return a }\n"
    assert results(source, "go")["Add"] == "under 3 lines"


def test_a_java_constructor_is_dropped_and_its_neighbour_kept():
    source = (
        "class Outer {\n /** Makes a new point. */\n Outer(int x) {\n  this.x = x;\n }\n"
        " /** Moves the point right. */\n void move(int x) {\n  this.x += x;\n }\n}\n"
    )
    documents = extract(source.encode(), "a", language_named("java")).documents
    assert [to_row(document, PACKAGE) for document in documents if document.kind == "class"] == [
        "not a function"
    ]
    made, moved = (to_row(document, PACKAGE) for document in documents if document.kind != "class")
    assert made == "constructor or standard method"
    assert isinstance(moved, Row) and moved.func_name == "Outer.move"


def test_mark_up_leaves_the_query_and_stays_out_of_the_rest():
    assert split_docstring("Returns <b>the</b> {@link Foo}.<p>Long story.\n@return x") == (
        "Returns the Foo.",
        "Long story.\n@return x",
    )
