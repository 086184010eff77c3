"""Macros and other code that grammars do not understand."""

import time

import pytest

from codesearch.languages import language_named
from codesearch.languages.records import LANGUAGES
from codesearch.parsing import masks
from codesearch.parsing.definitions import collect
from codesearch.parsing.extract import extract
from codesearch.parsing.masks import mask, repair

WIDGET = """\
class GUI_EXPORT Widget : public QObject {
public:
    void paint() { }
};
class GUI_EXPORT Panel : public QObject, private Mixin<int> {
    void show() { }
};
struct GUI_EXPORT(2) Pane final {
    int x;
};
struct Bits { enum color shade : 3; };
"""
SCENE = """\
PXR_USING_DIRECTIVE

class Scene {
    void draw() { }
};
DECLARE_PLUGIN(Scene, 2)
enum Mode { FAST };
"""
EXTERN = """\
JNIEXPORT jint JNICALL
Java_a_b(JNIEnv *env) { return 1; }
JNIEXPORT jint JNICALL Java_a_c(JNIEnv *env) { return 1; }
void FTN(load_table)(double *v) { }
int (plus)(int a) { return a; }
PHP_FUNCTION(strlen) { }
SYSCALL_DEFINE3(read, unsigned int, fd, char *, buf) { }
NO_SANITIZE("alignment")
int aligned(int a) { return a; }
PyMODINIT_FUNC PyInit_x(void) { return 0; }
"""
TESTS = """\
TEST_CASE("ring buffer wraps", "[ring]") {
    SECTION("at its (real) end") { check(1); }
}
TEST_CASE_TEMPLATE("any::type", T, int, char) { }
TEST_F(RingTest, Wraps) { }
BOOST_AUTO_TEST_CASE(sorts)
{
}
"""
BRANCHES = """\
int close_port(int h)
{
#ifdef LINUX
    if (h) {
#else
    if (h > 0) {
#endif
        h = 0;
    }
#ifdef SLOW
    while (0) {
#endif
#ifndef SLOW
    while (1) {
#endif
    }
    if (h
#ifdef EXTRA
        || h > 2
#endif
    ) { h = 1; }
    return 0;
}
int after(int h) { return h; }
"""
HEAD = """\
#ifdef FAST
class Pump : public Fast {
#else
class Pump : public Slow {
#endif
    int push(int a) { return a; }
};
"""
TANK = """\
class Tank {
    public int Fill(int a) {
#if FAST
        for (int i = 0; i < a; i++) {
#elif MEDIUM
        for (int i = 1; i < a; i++) {
#else
        while (a-- > 0) {
#endif
            Pump();
        }
        return a;
    }
    public int Drain(int b) { return b; }
}
"""
KOTLIN = """\
class Job(val value: Int) {
    fun suspend(): Int = value
    fun inner(data: Int) = start(data)
    suspend fun wake() { val suspend = 3; start(suspend) }
}
enum class Op(val sign: String) {
    ADD("+") { override fun apply(a: Int) = a },
    SUB("-") { override fun apply(a: Int) = -a };

    abstract fun apply(a: Int): Int
}
fun grade(x: Any) = when (x) {
    is Int if x > 1 -> 1
    is String if x.isEmpty() && x != "if" -> 3
    else -> 2
}
context(logger: Logger, db: Map<String, Int>)
fun store(): Int { return 1 }
fun price() = $$"costs $5"
fun last() = 1
"""
NEWER_KOTLIN = """\
class Result<out T>
@Published internal constructor(@Published internal val holder: Any?) {
    fun f() { box.value shouldBe suspend { 1 } }
    companion object Key { fun g() = 2 }
}
class Text internal actual constructor(actual val data: Int)
fun either(block: context(Raise<Error>) () -> Int) { block() }
context(log: Logger) @Marked("x") public fun <E> raise(e: E) { log(e) }
fun handler(block: () -> Unit): () -> Unit {
    return { block() }
}
data class Box(@all:Named(1) val value: Int)
"""
RUST = """\
cfg_rt! {
    /// Goes up.
    pub trait Sails {
        fn hoist(&self) -> u32 { 1 }
    }
    impl Sails for u8 {
        fn hoist(&self) -> u32 { '{'; "}"; 2 }
    }
}
cfg_if::cfg_if! {
    if #[cfg(all(unix, not(test)))] {
        fn on_unix() {}
    } else if #[cfg(windows)] {
        fn on_windows() {}
    } else {
        fn on_other() {}
    }
}
bitflags! {
    #[derive(Debug)]
    pub struct Flags: u32 {
        const A = 1;
    }
}
lazy_static! { static ref TABLE: Vec<u8> = {
        vec![]
    };
}
fn body() {
    tokio::select! { a = x() => { b } }
    let template = quote! {
        fn not_here() {}
    };
}
"""


def names(source: str, language: str) -> list[str]:
    """Describe the definitions of a source, without the module."""
    return [
        f"{document.kind} {document.qualified_name} {document.start_line}-{document.last_line}"
        for document in extract(source.encode(), f"a.{language}", language_named(language)).documents
        if document.kind != "module"
    ]


@pytest.mark.parametrize(
    ("source", "language", "expected"),
    [
        (
            WIDGET,
            "cpp",
            [
                "class Widget 1-4",
                "method Widget::paint 3-3",
                "class Panel 5-7",
                "method Panel::show 6-6",
                "struct Pane 8-10",
                "struct Bits 11-11",
            ],
        ),
        (SCENE, "cpp", ["class Scene 3-5", "method Scene::draw 4-4", "enum Mode 7-7"]),
        (
            EXTERN,
            "c",
            [
                "function Java_a_b 1-2",
                "function Java_a_c 3-3",
                "function load_table 4-4",
                "function plus 5-5",
                "function strlen 6-6",
                "function read 7-7",
                "function aligned 9-9",
                "function PyInit_x 10-10",
            ],
        ),
        (
            TESTS,
            "cpp",
            [
                "function ring buffer wraps 1-3",
                "function ring buffer wraps::at its (real) end 2-2",
                "function any::type 4-4",
                "function RingTest::Wraps 5-5",
                "function sorts 6-8",
            ],
        ),
        (BRANCHES, "c", ["function close_port 1-23", "function after 24-24"]),
        (BRANCHES, "cpp", ["function close_port 1-23", "function after 24-24"]),
        (HEAD, "cpp", ["class Pump 4-7", "method Pump::push 6-6"]),
        (TANK, "csharp", ["class Tank 1-15", "method Tank.Fill 2-13", "method Tank.Drain 14-14"]),
        (
            KOTLIN,
            "kotlin",
            [
                "class Job 1-5",
                "method Job.suspend 2-2",
                "method Job.inner 3-3",
                "method Job.wake 4-4",
                "enum Op 6-11",
                "method Op.apply 7-7",
                "method Op.apply 8-8",
                "method Op.apply 10-10",
                "function grade 12-16",
                "function store 18-18",
                "function price 19-19",
                "function last 20-20",
            ],
        ),
        (
            NEWER_KOTLIN,
            "kotlin",
            [
                "class Result 1-5",
                "method Result.f 3-3",
                "class Result.Key 4-4",
                "method Result.Key.g 4-4",
                "class Text 6-6",
                "function either 7-7",
                "function raise 8-8",
                "function handler 9-11",
                "class Box 12-12",
            ],
        ),
        (
            "public ref partial struct Writer<T>\n{\n    public void Write(byte x) { }\n}\n",
            "csharp",
            ["struct Writer 1-4", "method Writer.Write 3-3"],
        ),
        (
            'static PATH_FUNC(names, "NAMES")\n\nvoid read_paths(int *a)\n{\n}\ntypedef int proc(int a);\n',
            "c",
            ["function read_paths 3-5", "type proc 6-6"],
        ),
        (
            "BEGIN_NAMESPACE\n// Views.\nclass View {\n  explicit FMT_CONSTEXPR View(int n) : size(n) {}\n};\n"
            "template <typename T, ENABLE_IF(is_x<T>::value && !is_y<T>::value)>\n"
            "#if HAS_CLANG\n__attribute__((no_sanitize))\n#endif\ninline auto equal(T x) -> bool {\n  return x;\n}\n",
            "cpp",
            ["class View 3-5", "method View::View 4-4", "function equal 10-12"],
        ),
        ('extern "C" { fn free(p: *mut u8); }\n', "rust", ["function free 1-1"]),
        (
            RUST,
            "rust",
            [
                "trait Sails 3-5",
                "method Sails::hoist 4-4",
                "method u8::hoist 7-7",
                "function on_unix 12-12",
                "function on_windows 14-14",
                "function on_other 16-16",
                "struct Flags 21-23",
                "constant TABLE 25-27",
                "function body 29-34",
            ],
        ),
    ],
    ids="export line head tests c cpp class csharp kotlin newer struct path inner extern rust".split(),
)
def test_definitions_are_found_where_the_grammar_alone_fails(source, language, expected):
    assert names(source, language) == expected


SESSION = """\
@interface Task : NSObject
@property (copy) NSArray *metrics AF_API_AVAILABLE(ios(10), macosx(10.12));
@end
@implementation Task
- (void)collected:(NSArray *)metrics AF_API_AVAILABLE(ios(10)) {
    done();
}
- (void)ended { }
@end
"""
SOURCES = """\
static inline LOG_SOURCE_TYPE source_type(const char *value) {
    return 1;
}
static BOOL granted(HANDLE token __maybe_unused, int unused __unused) {
    return 1;
}
static void timer(uv_timer_t *handle __maybe_unused)
{
}
"""
ROUTES = """\
class Routes {
    fun shown() {
        val service by inject<Service>()
        get("/a") {
            call()
        }
    }
    fun changed() {
        val update = { 1 }

        set() shouldBe update()
    }
    val size: Int
        get() = 1
}
"""
VISITOR = """\
Import-Module $PSScriptRoot/../Visit.psm1 -ErrorAction Stop
function Walk {
    param (
        $OnContainer = {},
        $OnBlock = {
        }
    )
    $OnBlock
}
function Other { 1 }
"""


@pytest.mark.parametrize(
    ("source", "language", "expected"),
    [
        (SESSION, "objc", ["method Task.collected 5-7", "method Task.ended 8-8"]),
        (SOURCES, "c", ["function source_type 1-3", "function granted 4-6", "function timer 7-9"]),
        (ROUTES, "kotlin", ["class Routes 1-15", "method Routes.shown 2-7", "method Routes.changed 8-12"]),
        (VISITOR, "powershell", ["function Walk 2-9", "function Other 10-10"]),
    ],
    ids="available types calls empty".split(),
)
def test_definitions_of_public_repositories_that_a_grammar_loses(source, language, expected):
    assert [name for name in names(source, language) if name in expected] == expected
    assert not extract(source.encode(), "a", language_named(language)).is_partial


ARGUMENTS = """\
numbers! {
    #[cfg(wide)]
    u128, read_u128 => next_u128
}
impl Reader {
    fn read(&self) -> u32 { 1 }
    fn skip(&self) {}
}
"""


def test_a_mask_that_explains_less_than_the_grammar_alone_is_not_used():
    assert names(ARGUMENTS, "rust") == ["method Reader::read 6-6", "method Reader::skip 7-7"]


def test_a_function_below_the_macro_of_its_context_has_its_comment():
    trait = extract(RUST.encode(), "a.rs", language_named("rust")).documents[0]
    assert (trait.docstring, trait.signature) == ("Goes up.", "pub trait Sails")


@pytest.mark.parametrize("language", ["bash", "c", "csharp", "kotlin", "powershell", "rust", "swift"])
def test_every_byte_keeps_its_place_and_its_line(language):
    for source in (
        WIDGET,
        SCENE,
        EXTERN,
        TESTS,
        BRANCHES,
        HEAD,
        TANK,
        KOTLIN,
        RUST,
        VISITOR,
        "= {\n}",
        "é\r\n",
    ):
        data = source.encode()
        for text in (mask(data, language), repair(mask(data, language), language)):
            assert [len(line) for line in text.split(b"\n")] == [len(line) for line in data.split(b"\n")]


UNITS = [
    "#if A {\n", "#ifdef A\n", "MACRO(", "class A B ", "A B C D ", '"\\"', "/*", "'", "a!{", "a! {\n", "TEST(\"",
    "struct a:", "r#\"", "R\"a(", "if #[a", "} else {", "//\n", "context(", "is a if ", "$$", "AAAA\n",
    "TEST(a,", "int (a", "\\\n", " ", "\n", "fn a {", ") AAAA(", "data(",
    "template<,AAA(", ", const struct a ", "\n for_each(", "extension(a){", "#if\n a\n", "${a{b}", "a AAAA ",
    "DEPRECATED(", "AVAILABLE(a(),", "static const ", " get(a", "={ ",
    "a?.b", "operator ", ":end", "#else", "function a.", "type ",
]  # fmt: skip


@pytest.mark.parametrize(
    "language", ["c", "csharp", "haskell", "julia", "kotlin", "luau", "powershell", "rust"]
)
def test_the_time_grows_with_the_bytes(language):
    for unit in UNITS:
        data = (unit * (30_000 // len(unit))).encode()
        began = time.process_time()
        repair(mask(data, language), language)
        assert time.process_time() - began < 0.5, unit


def test_the_other_half_of_a_conditional_of_haskell_is_read_with_errors_in_it():
    code = b"module A where\n\n#if X\na = 1\n#else\nb = 2\n\nc = = 3\n#endif\n"
    assert {"a", "b"} <= {
        document.name for document in extract(code, "a", language_named("haskell")).documents
    }


def test_a_tree_without_errors_is_not_repaired():
    assert collect(b"fun f() { g(data) }\n", language_named("kotlin")).regions == []


def test_the_parser_knows_each_language_with_masks():
    assert {spec.mask for spec in LANGUAGES if spec.mask} == {
        "rust",
        "swift",
        *masks._FIRST,
        *masks._BLANKED,
        *masks._REPLACED,
    }
