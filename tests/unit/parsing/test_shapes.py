import pytest

from codesearch.languages import language_named
from codesearch.parsing.extract import extract


def shape(code: str, language: str = "python") -> int:
    documents = extract(code.encode(), "a", language_named(language)).documents
    return next(document.shape_key for document in documents if document.kind in ("function", "method"))


TOTAL = """
def total(items, start=0):
    for item in items:
        if item.is_open:
            start += item.price * 2
    return start
"""
OTHER_NAMES = '''
def weight(boxes,
           first=20):
    """Return the weight of all closed boxes."""
    for box in boxes:  # Each one.
        if box.closed:
            first += box.grams * 1_000.5

    return first
'''


def test_names_values_comments_docstrings_and_layout_do_not_count():
    assert shape(TOTAL) == shape(OTHER_NAMES) != 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("+=", "-="),
        ("if item", "while item"),
        ("return start", "return item"),  # Another name has this place.
        ("return start", "return start + 1"),
        ("item.price", "start.price"),
    ],
)
def test_other_marks_keywords_and_places_of_names_have_another_shape(old, new):
    assert shape(TOTAL.replace(old, new)) != shape(TOTAL)


def test_a_short_function_has_no_shape():
    assert shape("def get(self):\n    return self._value\n") == 0


def test_a_class_and_a_declaration_have_no_shape():
    code = "interface A {\n  find(name: string, place: number, other: boolean, more: string[], one: B): string;\n}\n"
    assert {
        document.shape_key for document in extract(code.encode(), "a", language_named("typescript")).documents
    } == {0}


FUNCTIONS = {
    "go": "func %s(%s []int) int {\n\tsum := 0 // all\n\tfor v := range %s {\n\t\ts += v * 3\n\t}\n\treturn s\n}\n",
    "javascript": "function %s(%s) {\n  let s = 0; /* all */\n  for (const v of %s) { s += v * 3; }\n  return s;\n}\n",
    "rust": "fn %s(%s: &[i32]) -> i32 {\n    let mut s = 0; // all\n    for v in %s { s += v * 3; }\n    s\n}\n",
    "java": "class A { int %s(int[] %s) {\n  int s = 0; // all\n  for (int v : %s) { s += v * 3; }\n  return s;\n} }\n",
    "c": "int %s(int *%s) {\n int s = 0; /* all */\n  for (int i = 0; i < 9;) { s += %s[i++] * 3; }\n  return s;\n}\n",
}


@pytest.mark.parametrize("language", FUNCTIONS)
def test_shapes_in_other_languages(language):
    one = FUNCTIONS[language] % ("total", "items", "items")
    two = (FUNCTIONS[language] % ("weigh", "boxes", "boxes")).replace("all", "every one").replace("3", "17")
    assert shape(one, language) == shape(two, language) != 0
    assert shape(one.replace("+=", "-="), language) != shape(one, language)


def test_functions_of_two_languages_have_different_shapes():
    code = FUNCTIONS["javascript"] % ("total", "items", "items")
    assert shape(code, "javascript") != shape(code, "typescript") != 0
