import pytest

from codesearch.languages import language_named
from codesearch.parsing.extract import extract
from training.corpus.filters import documentation_reason, drop_reason, split_docstring


def results(source, language="python"):
    documents = extract(source.encode(), "a", language_named(language)).documents
    return {document.name: reason_of(document) for document in documents}


def reason_of(document):
    paragraph = split_docstring(document.docstring)[0]
    return drop_reason(document) or documentation_reason(document.docstring, paragraph)


@pytest.mark.parametrize(
    ("source", "name", "reason"),
    [
        ("def f(x):\n    y = x\n    return y\n", "f", "no docstring"),
        ('def f(x):\n    """Too short."""\n    y = x\n    return y\n', "f", "docstring under 3 tokens"),
        ('def f(x): return x; "Three words here"\n', "f", "under 3 lines"),
        ('def f(x):\n    """Return what it is given."""\n\n    return x\n', "f", "under 3 lines"),
        ('def f(x):\n    """Return the next one."""\n    y = x + 1\n    return y\n', "f", ""),
        ('def f(\n    x,\n):\n    """Return the next one."""\n    raise NotImplementedError\n', "f", "stub"),
        ('def test_f(x):\n    """Check that it works."""\n    y = x\n    return y\n', "test_f", "test"),
        (
            'class A:\n    def __str__(self):\n        """Show it as text."""\n        y = 1\n        return y\n',
            "__str__",
            "constructor or standard method",
        ),
    ],
)
def test_a_dropped_function_has_the_name_of_the_filter(source, name, reason):
    assert results(source)[name] == reason


def test_a_function_of_one_line_is_dropped():
    source = "// Add adds two numbers.\nfunc Add(a int) int { return a }\n"
    assert results(source, "go")["Add"] == "under 3 lines"


def test_a_java_constructor_is_dropped_and_the_next_method_is_kept():
    source = (
        "class Outer {\n /** Makes a new point. */\n Outer(int x) {\n  this.x = x;\n }\n"
        " /** Moves the point right. */\n void move(int x) {\n  this.x += x;\n }\n}\n"
    )
    documents = extract(source.encode(), "a", language_named("java")).documents
    assert [(document.kind, document.name, reason_of(document)) for document in documents] == [
        ("class", "Outer", "not a function"),
        ("method", "Outer", "constructor or standard method"),
        ("method", "move", ""),
    ]


def test_markup_is_removed_from_the_query():
    assert split_docstring("Returns <b>the</b> {@link Foo}.<p>Long story.\n@return x") == (
        "Returns the Foo.",
        "Long story.\n@return x",
    )
