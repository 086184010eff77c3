"""The documents of the files in `samples/` are those of `samples.txt`; and difficult input."""

import re
import time
from pathlib import Path

import pytest

from codesearch.config import ParseConfig
from codesearch.languages import language_named, language_of_path
from codesearch.languages.records import LANGUAGES
from codesearch.parsing.extract import Extraction, extract
from codesearch.types import KINDS, Document

SAMPLES = Path(__file__).parent / "samples"
GOLDEN = Path(__file__).parent / "samples.txt"
"""For each sample: kind, name, first and last line, signature, docstring and flags of each definition and member."""
FLAGS = "stub generated test vendored built nested".split()
"""Names of the bits of `Document.flags`."""
C_ENDINGS = (".c", ".cpp", ".h", ".hpp", ".m", ".mm")


def extract_sample(sample: str, line_end: bytes = b"\n", members: bool = False) -> list[Document]:
    spec = language_of_path(sample, "all")
    assert spec is not None
    found = extract((SAMPLES / sample).read_bytes().replace(b"\n", line_end), sample, spec)
    assert found.warnings == []
    return [*found.documents, *found.members] if members else found.documents


def extract_text(source: str | bytes, language: str, config: ParseConfig | None = None) -> Extraction:
    data = source.encode() if isinstance(source, str) else source
    return extract(data, f"file.{language}", language_named(language), config)


def described(document: Document) -> str:
    return f"{document.kind} {document.qualified_name} {document.start_line}-{document.end_line}"


def in_full(documents: list[Document]) -> str:
    lines = []
    for document in documents:
        flags = "".join(f" {name}" for number, name in enumerate(FLAGS) if document.flags >> number & 1)
        lines.append(f"{described(document)} | {document.signature} | {document.docstring!r}{flags}\n")
    return "".join(lines)


def golden() -> dict[str, str]:
    """Return the expected definitions of each sample."""
    blocks = GOLDEN.read_text("utf-8").split("\n# ")
    return {
        name: f"{lines}\n" for name, _, lines in (block.strip("# \n").partition("\n") for block in blocks)
    }


def sample_names() -> list[str]:
    return sorted(path.name for path in SAMPLES.iterdir())


def test_the_golden_file_has_every_sample_and_language(request):
    if request.config.getoption("--update-golden"):
        blocks = [f"# {sample}\n{in_full(extract_sample(sample, members=True))}" for sample in sample_names()]
        GOLDEN.write_text("\n".join(blocks), "utf-8")
    assert list(golden()) == sample_names(), "check the samples, then run with --update-golden"
    covered = {spec.name for sample in sample_names() if (spec := language_of_path(sample))}
    assert {spec.name for spec in LANGUAGES} <= covered, "add a file to samples/"


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize("sample", sample_names())
def test_each_definition_is_that_of_the_golden_file(sample, line_end):
    assert in_full(extract_sample(sample, line_end, members=True)) == golden()[sample]


@pytest.mark.parametrize("sample", sample_names())
def test_byte_offsets_cover_whole_lines_of_the_file(sample):
    data = (SAMPLES / sample).read_bytes()
    for document in extract_sample(sample):
        assert data.count(b"\n", 0, document.start_byte) + 1 == document.start_line
        assert data.count(b"\n", 0, document.end_byte) + 1 == document.end_line
        assert data[document.end_byte - 1 : document.end_byte].strip()


@pytest.mark.parametrize("sample", [name for name in sample_names() if name.endswith(C_ENDINGS)])
def test_no_definition_of_c_or_a_relative_has_the_name_of_a_keyword_or_of_a_macro_before_it(sample):
    documents = extract_sample(sample, members=True)
    lines = (SAMPLES / sample).read_text("utf-8").splitlines()
    defined = {line.split()[1].partition("(")[0] for line in lines if line.startswith("#define")}
    keywords = frozenset("class const enum friend if namespace noexcept operator static struct using".split())
    names = {document.name for document in documents if document.kind not in ("method", "module")}
    assert names and not names & keywords
    assert not [name for name in names - defined if re.search(r"[A-Z]_(?:EXPORT|API|DEPRECATED\w*)$", name)]


def test_the_code_of_a_python_function_excludes_its_docstring():
    found = extract_sample("base.pyi")[0]
    assert found.code.startswith("def load(path: str,")
    assert "Slowly" not in found.code
    assert found.code.endswith('return b""')


def test_a_class_ends_before_the_comment_of_its_first_member():
    store = extract_sample("base.pyi")[3]
    assert store.code.endswith("limit = 3")


def test_code_is_cut_at_the_configured_size():
    found = extract_text("def f():\n    return 12345\n", "python", ParseConfig(max_code_bytes=8))
    assert found.documents[0].code == "def f():"
    assert found.documents[0].end_line == 2


def test_a_signature_is_cut_between_words():
    parameters = ", ".join(f"parameter_{number}" for number in range(40))
    found = extract_text(f"def total({parameters}):\n    return 1\n", "python").documents
    words = found[0].signature.removeprefix("def total(").split(", ")
    assert len(found[0].signature) <= 300
    assert set(filter(None, words)) < set(parameters.split(", "))


def test_the_data_of_a_url_has_no_words():
    data = "iVBORw0KGgoAAAANSUhEUgAA"
    source = f'const ICON = "data:image/png;base64,{data}";\nconst SMALL = 1;\n'
    found = extract_text(source, "javascript")
    (module,) = found.documents
    assert not any(data in text for text in (module.code, module.signature, module.name))
    assert [member.signature for member in found.members][1] == "const SMALL = 1"
    assert source[module.start_byte : module.end_byte] == source.rstrip()


@pytest.mark.parametrize(
    ("lines", "is_partial"),
    [
        (["x = = 3", *["y = 1"] * 12], True),
        (["y = 1"] * 13, False),
        (["def f():", *["    g()"] * 80, "x = = 3"], True),
        (["def f():", *["    g()"] * 20, "x = = 3"], False),
    ],
)
def test_a_file_with_errors_and_few_definitions_is_read_in_part(lines, is_partial):
    assert extract_text("\n".join(lines), "python").is_partial == is_partial


def test_invalid_utf8_gives_one_warning_and_still_documents():
    found = extract_text(b'def f():\n    """Caf\xe9 \xff."""\ndef g(): pass\n', "python")
    assert [document.name for document in found.documents] == ["f", "g"]
    assert found.documents[0].docstring == "Caf\ufffd \ufffd."
    assert found.warnings == ["file.python: invalid UTF-8 at byte 19: read with replacement characters"]


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("go", "package a\nvar x = {open}1{close}\nfunc f() {{}}\n"),
        ("java", "class f {{ int x = {open}1{close}; }}\n"),
        ("javascript", "x = {open}1{close};\nfunction f() {{}}\n"),
        ("php", "<?php $x = {open}1{close};\nfunction f() {{}}\n"),
        ("python", "x = {open}1{close}\ndef f(): pass\n"),
        ("ruby", "x = {open}1{close}\ndef f; end\n"),
    ],
)
def test_ten_thousand_parentheses_end_within_seconds(language, source):
    began = time.process_time()
    found = extract_text(source.format(open="(" * 10_000, close=")" * 10_000), language)
    assert time.process_time() - began < 10
    assert [document.name for document in found.documents if document.kind != "module"] == ["f"]


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("javascript", "function f() {" * 3_000 + "}" * 3_000),
        ("php", "<?php " + "function f() {" * 3_000 + "}" * 3_000),
        ("ruby", "def f\n" * 3_000 + "end\n" * 3_000),
        ("java", "class f {" * 3_000 + "}" * 3_000),
    ],
)
def test_thousands_of_nested_definitions_end_within_seconds_with_a_warning(language, source):
    began = time.process_time()
    found = extract_text(source, language)
    assert time.process_time() - began < 5
    assert len(found.documents) == 32
    assert found.warnings == [f"file.{language}: 2968 definitions nested deeper than 32 left out"]


def test_the_warning_about_one_deep_definition_is_singular():
    found = extract_text("def f():\n    def g():\n        return 1\n", "python", ParseConfig(max_nesting=1))
    assert [document.name for document in found.documents if document.kind != "module"] == ["f"]
    assert found.warnings == ["file.python: 1 definition nested deeper than 1 left out"]


def contexts(source: str, language: str, path: str) -> dict[str, str]:
    documents = extract(source.encode(), path, language_named(language)).documents
    return {document.qualified_name: document.context for document in documents}


def test_a_definition_has_the_summaries_of_its_class_and_of_its_module():
    source = '"""Sell things.\n\nSlowly."""\n\n'
    source += 'class Shop:\n    """A place with a till.\n\n    It is closed on Sundays."""\n\n'
    source += (
        "    class Till:\n        def open(self): pass\n\n    def close(self): pass\n\ndef walk(): pass\n"
    )
    assert contexts(source, "python", "shop.py") == {
        "Shop": "Sell things.",
        "Shop.Till": "A place with a till. Sell things.",
        "Shop.Till.open": "A place with a till. Sell things.",
        "Shop.close": "A place with a till. Sell things.",
        "walk": "Sell things.",
    }


def test_a_method_outside_of_its_type_has_the_summary_of_the_type():
    assert contexts((SAMPLES / "base.go").read_text(), "go", "store.go") == {
        "Store": "",
        "Reader": "",
        "Reader.Read": "Reader reads.",
        "ID": "",
        "Store.Put": "Store keeps things.",
        "New": "",
    }


def test_a_licence_is_no_context():
    assert contexts(
        "# Copyright 2020 A. B.\n# All rights reserved.\n\ndef walk(): pass\n", "python", "a.py"
    ) == {"walk": ""}


def test_a_context_is_short():
    found = contexts(f'"""{"long " * 100}"""\n\ndef walk(): pass\n', "python", "a.py")
    assert len(found["walk"]) == 200


def test_a_header_with_classes_is_read_as_cpp():
    assert {document.language for document in extract_sample("sample.h")} == {"cpp"}


def test_a_header_and_a_file_of_matlab_are_told_from_objective_c():
    c, objc = language_named("c"), language_named("objc")
    header = extract(b"/// A shop.\n@interface Shop : NSObject\n- (void)open;\n@end\n", "Shop.h", c)
    assert [(d.language, d.kind, d.name) for d in header.documents] == [("objc", "class", "Shop")]
    script = extract(b"% Area of a circle.\nfunction a = area(r)\n  a = pi * r^2;\nend\n", "area.m", objc)
    assert [(d.language, d.name, d.docstring) for d in script.documents] == [
        ("matlab", "area", "Area of a circle.")
    ]


def test_a_header_without_classes_stays_c():
    code = b"struct a {\n  int public;\n};\nstatic inline int f(void) { return 1; }\n"
    found = extract(code, "a.h", language_named("c"))
    assert [(document.language, document.name) for document in found.documents] == [("c", "a"), ("c", "f")]


def test_deeply_nested_structs_end_within_seconds():
    found = extract(b"struct A {" * 3_000 + b"};" * 3_000, "deep.cpp", language_named("cpp"))
    assert len(found.documents) == 32
    assert found.warnings[0] == "deep.cpp: 2968 definitions nested deeper than 32 left out"


@pytest.mark.parametrize("spec", LANGUAGES, ids=lambda spec: spec.name)
def test_an_empty_file_has_no_documents(spec):
    found = extract(b"", "empty", spec)
    assert (found.documents, found.warnings) == ([], [])


def module_of(source: str, language: str, path: str = "shop.txt") -> Document:
    documents = extract(source.encode(), path, language_named(language)).documents
    return next(document for document in documents if document.kind == "module")


def test_the_stored_numbers_of_kinds_do_not_change():
    assert KINDS[:3] == ("function", "method", "class")


def test_a_module_has_all_statements_without_imports_and_the_lines_of_most_of_them():
    module = next(document for document in extract_sample("kinds.pyi") if document.kind == "module")
    assert "import" not in module.code
    assert "__all__" not in module.code
    assert "orders" not in module.code
    assert module.code.startswith('LIMIT = 3\n# Names.\nNAMES = ("a", "b")\n_cache = {}')
    assert module.code.endswith("# Twice.\n    run()")
    assert (module.start_line, module.end_line) == (27, 31)


@pytest.mark.parametrize(
    ("source", "language", "docstring"),
    [
        ("// Copyright 2024.\n\nopen();\nread();\nclose();\n", "javascript", ""),
        ("open();\n// Then.\nread();\nclose();\n", "javascript", ""),
    ],
)
def test_a_module_has_the_docstring_of_its_file(source, language, docstring):
    assert module_of(source, language).docstring == docstring


@pytest.mark.parametrize(
    ("path", "name"), [("shop/__init__.py", "shop"), ("web/index.js", "web"), ("index.js", "index")]
)
def test_a_module_has_the_name_of_its_file_or_folder(path, name):
    assert module_of("open();\nread();\nclose();\n", "javascript", path).name == name


def test_statements_are_a_module_and_imports_are_not():
    assert module_of("import os\nopen()\n", "python").code == "open()"
    assert extract_text("import os\nfrom a import b\n", "python").documents == []
    assert extract_text("import A from './a';\nexport default A;\n", "javascript").documents == []


def test_statements_longer_than_a_document_are_several_modules():
    source = "".join(f"int {name}(void);\n" for name in ("first", "second", "third"))
    found = extract_text(source, "c", ParseConfig(max_code_bytes=40)).documents
    assert [(document.name, document.start_line, document.end_line) for document in found] == [
        ("file", 1, 2),
        ("int third(void);", 3, 3),
    ]


def test_an_impl_without_members_is_a_statement_and_the_head_of_another_is_not():
    source = "impl Copy for A {}\nimpl B {\n    const LIMIT: u32 = 3;\n    fn f() {}\n}\n"
    assert module_of(source, "rust").code == "impl Copy for A {}\n    const LIMIT: u32 = 3;"


def test_a_list_of_exported_names_is_not_a_document():
    assert extract_text("__all__ = [\n    'a',\n    'b',\n    'c',\n]\n", "python").documents == []
