"""Names at a position in an editor; tests/integration/test_lsp_navigation.py has what an editor asks."""

from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED
from codesearch.structure import navigation
from tests.conftest import write_tree

OVERLOAD = "@overload\ndef get(key: Literal[{}]) -> int: ...\n\n\n"


def test_a_folder_above_the_project_does_not_make_a_changed_file_one_of_tests_or_builds(engine, tmp_path):
    root = write_tree(tmp_path / "build/tests", {"a.py": "def old():\n    pass\n"})
    engine.index(root)
    path, text = root / "a.py", "def new():\n    pass\n\n\ndef call():\n    new()\n"
    with engine.session(Scope(within=[root]), AS_INDEXED).navigation({path: text}) as names_of:
        assert names_of.counts(names_of.at(path, 1, 5)) == (1, 0)


def test_a_file_with_many_overloads_is_looked_through_once(engine, tmp_path, monkeypatch):
    """With 600 overloads in it, looking for them at each occurrence took half a minute."""
    overloads = "".join(map(OVERLOAD.format, range(30)))
    tree = {"a.py": f"{overloads}def get(key):\n    return key\n\n\ndef use():\n    get(1)\n"}
    root = write_tree(tmp_path / "src", tree)
    engine.index(root)
    looked, own_names = [], navigation.own_names
    monkeypatch.setattr(navigation, "own_names", lambda *of: looked.append(of) or own_names(*of))
    with engine.session(Scope(within=[root]), AS_INDEXED).navigation({}) as names_of:
        names = names_of.at(root / "a.py", 2, 5)
        looked.clear()
        lines = [*range(2, 122, 4), 121, 126]
        assert [span.line for span in names_of.in_file(names, root / "a.py")] == lines
        assert len(looked) == 1
        called = names_of.called(names_of.at(root / "a.py", 125, 5))
        assert [definition.start_line for definition, _, _ in called] == [121]


HEADERS = {
    "h/foo.h": """class Foo {
  public:
    void run();
    int size() const { return 1; }
};
class Other {
  public:
    void run();
    int size() const { return 2; }
};
""",
    "h/base.h": "class Base {\n  protected:\n    Foo *m_base;\n    Foo m_value{1};\n};\n",
    "h/bar.h": """class Bar : public Base {
    void go();
    void most();
    std::unique_ptr<Foo> m_foo;
    std::shared_ptr<Other> m_other;
    int inside() { return m_other->size(); }
    const Foo &foo() const;
};
typedef std::shared_ptr<Bar> BarPtr;
""",
    "s/foo.cpp": "void Foo::run() {\n    one();\n}\nvoid Other::run() {\n    two();\n}\n",
    "s/bar.cpp": """void Bar::go() {
    m_foo->run();
    this->m_other->size();
}
void Bar::most() {
    m_base->run();
    m_value.size();
}
void use(BarPtr made) {
    Other *other = made->foo();
    made->foo().run();
    other->size();
}
""",
    "c/count.h": "int count(int from);\n",
    "c/again.h": "int count(int from);\nvoid counts() { count(1); }\n",
    "c/point.h": "struct point { int x; struct next *after; };\nstruct line { int x; };\nstruct next { int x; };\n",
    "c/point.c": "int of(struct point *p)\n{\n    return p->x + p->after->x;\n}\n",
}


def test_a_receiver_has_the_type_that_a_header_declares(engine, tmp_path):
    root = write_tree(tmp_path / "src", HEADERS)
    engine.index(root)
    with engine.session(Scope(within=[root]), AS_INDEXED).navigation({}) as names_of:

        def called(path: str, line: int, column: int) -> list[str]:
            calls = names_of.called(names_of.at(root / path, line, column))
            return [f"{definition.path}:{definition.start_line}" for definition, _, _ in calls]

        assert called("s/bar.cpp", 1, 11) == ["s/foo.cpp:1", "h/foo.h:9"]
        assert called("s/bar.cpp", 5, 11) == ["s/foo.cpp:1", "h/foo.h:4"]
        assert called("h/bar.h", 6, 9) == ["h/foo.h:9"]
        assert called("s/bar.cpp", 9, 6) == ["h/bar.h:7", "s/foo.cpp:1", "h/foo.h:9"]
        assert called("c/again.h", 2, 6) == ["c/again.h:1"]
        fields = [names_of.at(root / "c/point.c", 3, column).targets for column in (15, 29)]
        assert [[ref.row.qualified_name for ref in refs] for refs in fields] == [["point.x"], ["next.x"]]
