"""The languages other than the six of CodeSearchNet, each with one file of `samples/`."""

from __future__ import annotations

from pathlib import Path

import pytest

from codesearch.parsing.extract import extract
from codesearch.parsing.languages import LANGUAGES, language_named, language_of_path
from codesearch.types import TEST, Document

SIX = {"go", "java", "javascript", "php", "python", "ruby"}
SAMPLES = Path(__file__).parent / "samples"

# One definition per line: kind, qualified name, first and last line.
DEFINITIONS = {
    "sample.sh": """
function usage 4-7
function build_all 13-16
function build_all::inner 14-14
function pack::one 18-20
function die 22-22
""",
    "sample.c": """
struct node 4-7
struct point_t 9-11
enum colour 13-13
function node_new 20-23
function split 27-31
function choose 34-36
function main 39-39
""",
    "sample.cpp": """
function geo::detail::inner::add 4-4
class geo::Shape 10-11
method geo::Shape::Shape 13-13
method geo::Shape::area 14-14
method geo::Shape::operator== 16-16
method geo::Shape::get 19-19
class geo::Box 26-28
method geo::Shape::scale 31-33
method geo::Shape::~Shape 34-34
method geo::Shape::operator+= 35-35
method geo::Shape::operator int 36-36
function geo::largest 40-42
method geo::Box::release 44-44
class Widget 47-47
method Widget::width 48-48
""",
    "sample.h": """
class geo::Circle 3-4
method geo::Circle::radius 5-5
""",
    "sample.ex": """
class Shop.Cart 1-5
constant Shop.Cart.limits 7-8
method Shop.Cart.send 16-18
method Shop.Cart.halt 21-21
method Shop.Cart.__using__ 23-27
function Shop.Cart.__using__.init 25-25
method Shop.Cart.noargs 29-29
type Shop.Cart.t 30-30
method Enumerable.count 34-34
interface Size 36-36
method Size.size 37-37
""",
    "sample.hs": """
type Stack 8-10
type Wrap 12-12
type Alias 13-13
interface Shape 16-16
method Shape.area 18-18
method Shape.area 21-21
function push 25-27
function limit 30-30
function <+> 32-32
""",
    "sample.zig": """
struct Stack 5-6
method Stack.push 8-10
method Stack.Inner 11-16
function Stack.Inner.get 14-14
enum Color 18-18
struct U 19-19
enum Err 20-20
constant table 21-24
function free 25-25
function push works 26-28
""",
    "sample.vue": """
module sample 1-25
constant sample 9-10
function data 11-11
method load 13-16
function twice 19-21
""",
    "sample.svelte": """
module sample 1-15
function add 6-8
""",
    "sample.html": """
module sample 1-17
function greet 9-11
function document.addEventListener("click") callback 12-14
""",
    "sample.dart": """
class Shape 4-10
method Shape.of 11-11
method Shape.area 15-18
function Shape.area.twice 16-16
method Shape.name 20-20
method Shape.name 21-23
method Shape.load 24-26
method Shape.== 27-27
method Shape.perimeter 28-28
class Walks 31-31
method Walks.walk 32-32
method Loud.shout 35-35
enum Colour 37-37
method Colour.hex 37-37
type Callback 38-38
constant table 39-42
function main 44-49
function answer 50-50
""",
    "sample.jl": """
function Shop.total 8-11
function Shop.total.helper 9-9
function Shop.area 14-14
type Shop.Shape 16-16
struct Shop.Square 17-18
method Shop.Square.Square 19-19
struct Shop.Cart 21-23
function Shop.twice 24-26
function Shop.Base.show 27-27
function Shop.Base.length 28-30
constant Shop.TABLE 31-34
module sample 35-40
function Pair 42-43
""",
    "sample.m": """
class Shop 4-9
interface Counting 11-11
method Counting.count 12-12
class Shop 15-17
method Shop.openAt 20-25
method Shop.shop 27-29
method NSString.shout 33-33
struct point 36-36
function add 38-40
function name 41-41
""",
    "sample.ml": """
module sample 2-2
type t 4-4
type colour 5-5
class Cart 9-9
method Cart.total 11-11
method Cart.even 13-13
method Cart.odd 14-14
interface S 18-18
type S.t 19-19
method S.create 20-20
class Make 23-23
method Make.create 24-24
class shape 27-28
method shape.area 29-29
function (>>=) 32-32
constant table 34-37
function now 38-38
""",
    "sample.mli": """
function create 2-2
type t 4-4
class M 5-5
method M.x 6-6
method M.y 9-9
""",
    "sample.nix": """
function twice 5-5
function pair 6-6
module sample 7-15
function mkShop 19-20
""",
    "sample.ps1": """
function Get-Order 5-10
function Shop.Add 12-12
function Even 13-13
class Shape 14-15
method Shape.Shape 16-16
method Shape.Area 17-17
method Shape.Run 18-18
enum Colour 20-20
module sample 21-23
function Get-Cart 25-31
""",
    "sample.cs": """
class Shop.Core.Orders 7-10
method Shop.Core.Orders.Orders 14-14
method Shop.Core.Orders.AddAsync 17-22
function Shop.Core.Orders.AddAsync.Twice 20-20
method Shop.Core.Orders.Count 24-24
method Shop.Core.Orders.+ 25-25
interface Shop.Core.IOrders 28-28
method Shop.Core.IOrders.Clear 28-28
class Shop.Core.Point 29-29
""",
    "scoped.cs": """
class Shop.Web.Home 4-5
method Shop.Web.Home.Show 6-6
""",
    "sample.kt": """
class Order 4-5
method Order.constructor 6-8
method Order.total 11-15
function Order.total.round 13-13
method Order.size 17-18
method Order.of 22-22
interface Printable 26-26
method Printable.print 26-26
class Registry 28-28
method Registry.find 29-29
enum Colour 32-34
method Colour.hex 36-36
function String.shout 40-42
function Map.Entry.second 44-44
""",
    "sample.lua": """
function M.add 5-7
method M.sub.get 10-14
function M.sub.get.inner 12-12
function M.mul 18-20
function div 22-22
function run 24-26
function on("exit") callback 28-31
""",
    "sample.rs": """
struct Shape 7-9
struct Metres 11-11
method Shape::new 16-18
method Shape::first 19-19
method Shape::second 20-20
method Shape::fmt 27-30
function Shape::fmt::helper 28-28
trait Area 33-33
method Area::area 35-35
function geo::distance 40-42
function square 48-50
""",
    "sample.scala": """
class Orders 4-5
method Orders.total 7-11
function Orders.total.round 9-9
method Orders.+ 12-12
class Orders 15-15
method Orders.apply 15-15
trait Printable 17-17
method Printable.print 17-17
class Point 19-19
enum Colour 21-22
method Colour.hex 23-23
method String.shout 27-28
method Ordering.compare 31-31
""",
    "sample.swift": """
class Shape 5-6
method Shape.area 7-7
method Shape.init 10-10
method Shape.deinit 11-11
method Shape.scale 14-18
function Shape.scale.local 16-16
method Shape.== 20-20
struct Shape.Corner 21-21
interface Printable 24-24
method Printable.print 26-26
method Shape.twice 31-31
method Array.Index.sum 34-34
enum Colour 36-36
method Colour.hex 36-36
""",
    "sample.ts": """
interface Shape 2-2
method Shape.area 4-4
enum Colour 8-8
function Geo.Plane.distance 12-14
class Store 21-21
method Store.constructor 22-24
method Store.add 28-30
method Store.size 32-32
method Store.onChange 33-35
function parse 38-40
function overload 43-43
function app.get("/shapes") callback 45-48
""",
    "sample.tsx": """
type Props 1-3
function Card 6-10
function Card.onClick 8-8
function Page 13-15
class Panel 17-17
method Panel.render 19-21
""",
}

# (sample, qualified name, docstring, signature)
TEXTS = [
    ("sample.sh", "usage", "Print how to use it,\nthen stop.", "usage()"),
    ("sample.sh", "build_all", "Build everything.", "function build_all"),
    ("sample.c", "node", "A node of a linked list.", "struct node"),
    ("sample.c", "point_t", "", "typedef struct point_t"),
    ("sample.c", "node_new", "Make a node.", "static struct node *node_new(int value)"),
    ("sample.c", "split", "Split a line\nat commas.", "char **split(const char *line, int count)"),
    ("sample.c", "choose", "Choose a comparison.", "int (*choose(int kind))(int, int)"),
    ("sample.cpp", "geo::Shape", "A shape.", "class Shape : public Base"),
    ("sample.cpp", "geo::Shape::area", "", "virtual double area() const = 0"),
    ("sample.cpp", "geo::Shape::get", "Any property.", "T get() const"),
    ("sample.cpp", "geo::largest", "The larger of the two.", "auto largest(T a, U b) -> decltype(a)"),
    ("sample.cpp", "geo::Box::release", "", "T* Box<std::vector<T>>::release()"),
    ("sample.h", "geo::Circle", "A circle.", "class Circle"),
    (
        "sample.cs",
        "Shop.Core.Orders",
        "Keeps Order objects.",
        "public sealed class Orders<T> : Base, IOrders where T : class",
    ),
    (
        "sample.cs",
        "Shop.Core.Orders.Orders",
        "Make it.\n@param n How many.",
        "public Orders(int n) : base(n)",
    ),
    (
        "sample.cs",
        "Shop.Core.Orders.AddAsync",
        "Add one.",
        "public async Task<int> AddAsync<U>(U item, int k = 1) where U : new()",
    ),
    ("sample.cs", "Shop.Core.IOrders.Clear", "", "void Clear()"),
    ("scoped.cs", "Shop.Web.Home", "The front page.", "public class Home"),
    (
        "sample.kt",
        "Order",
        "An order.",
        "data class Order(val id: Int, val name: String) : Base(id), Printable",
    ),
    (
        "sample.kt",
        "Order.total",
        "The total with tax.",
        "override suspend fun total(rate: Double): Double",
    ),
    ("sample.dart", "Shape.area", "The area.", "double area(int factor)"),
    ("sample.jl", "Shop.area", "Area of it.", "area(s::Square)"),
    (
        "sample.jl",
        "Shop.total",
        "total(lines)\n\nThe total.",
        "function total(lines::Vector{T}; rate=1.0)::Float64 where {T<:Real}",
    ),
    ("sample.m", "Shop.shop", "The shop.", "+ (instancetype)shop"),
    ("sample.ml", "Cart.total", "Total of it.", "total lines"),
    ("sample.mli", "create", "Make one.", "val create : int -> t"),
    ("sample.mli", "M.x", "The number.", "val x : int"),
    ("sample.nix", "twice", "Twice it.", "twice = x"),
    ("sample.ps1", "Get-Cart", ".SYNOPSIS\nGets a cart.", "function Get-Cart"),
    ("sample.ps1", "Get-Order", ".SYNOPSIS\nGets it.", "function Get-Order"),
    ("sample.kt", "String.shout", "Say it loudly.", "fun String.shout(n: Int): String"),
    ("sample.lua", "M.add", "Add two numbers.\n@param a the first", "function M.add(a, b)"),
    ("sample.lua", "M.sub.get", "Get by key.", "function M.sub:get(key)"),
    ("sample.lua", "M.mul", "Multiply\ntwo numbers.", "mul = function(a, b)"),
    ("sample.rs", "Shape", "A shape\nwith corners.", "pub struct Shape<T>"),
    ("sample.rs", "Metres", "", "pub struct Metres(f64)"),
    ("sample.rs", "Shape::new", "Make a shape.", "pub fn new(corners: T) -> Self"),
    ("sample.rs", "Shape::second", "", "fn second(&self)"),
    (
        "sample.rs",
        "geo::distance",
        "Distance between two points.",
        "pub(crate) async fn distance<T>(a: T, b: T) -> f64 where T: Into<f64>",
    ),
    ("sample.rs", "square", "Square a number.", "macro_rules! square"),
    (
        "sample.scala",
        "Orders",
        "Keeps orders.",
        "class Orders[T](val n: Int)(implicit e: Env) extends Base[T](n) with Printable",
    ),
    ("sample.scala", "Orders.total", "The total.", "final def total(rate: Double): Double"),
    ("sample.scala", "String.shout", "Say it loudly.", "def shout(n: Int): String"),
    ("sample.swift", "Shape", "A shape.", "public final class Shape: Base, Printable"),
    (
        "sample.swift",
        "Shape.scale",
        "Scale it.",
        "func scale<T>(by factor: T, _ count: Int) async throws -> Double where T: Numeric",
    ),
    ("sample.swift", "Printable.print", "Print it.", "func print(_ count: Int) -> String"),
    ("sample.swift", "Shape.twice", "Twice the area.", "func twice() -> Double"),
    ("sample.ts", "Shape", "A shape with an area.", "interface Shape"),
    ("sample.ts", "Store", "Keeps shapes.", "abstract class Store<T extends Shape> extends Base"),
    ("sample.ts", "Store.add", "Add one shape.", "async add(item: T): Promise<void>"),
    ("sample.ts", "parse", "", "parse = (text: string): Ast"),
    ("sample.tsx", "Card", "A card with a title.", "function Card({ title }: Props): JSX.Element"),
    ("sample.tsx", "Page", "A page of cards.", "Page = (props)"),
]


def extract_sample(sample: str) -> list[Document]:
    spec = language_of_path(sample)
    assert spec is not None
    found = extract((SAMPLES / sample).read_bytes(), sample, spec)
    assert found.warnings == []
    return found.documents


def described(document: Document) -> str:
    return f"{document.kind} {document.qualified_name} {document.start_line}-{document.end_line}"


@pytest.mark.parametrize("sample", DEFINITIONS)
def test_each_definition_has_its_kind_qualified_name_and_lines(sample):
    assert [described(document) for document in extract_sample(sample)] == DEFINITIONS[sample].split("\n")[
        1:-1
    ]


@pytest.mark.parametrize(("sample", "name", "docstring", "signature"), TEXTS)
def test_docstring_and_signature_have_no_markers_and_attributes(sample, name, docstring, signature):
    document = next(found for found in extract_sample(sample) if found.qualified_name == name)
    assert (document.docstring, document.signature) == (docstring, signature)


def test_every_other_language_has_a_sample():
    covered = {spec.name for sample in DEFINITIONS if (spec := language_of_path(sample))}
    missing = {spec.name for spec in LANGUAGES} - SIX - covered
    assert not missing, f"{missing}: add a file to samples/ and its definitions to DEFINITIONS"


def test_a_test_of_zig_is_flagged():
    flagged = [document.name for document in extract_sample("sample.zig") if document.flags & TEST]
    assert flagged == ["push works"]


def test_clauses_of_a_function_that_follow_each_other_are_one_method():
    source = (
        b"defmodule Cart do\n  def total([]), do: 0\n\n  def total([line | rest]) do\n    line + total(rest)\n  end\n"
        b"  def size(cart), do: 1\n  # Not the same place.\n  def total(:none), do: 0\nend\n"
    )
    documents = extract(source, "cart.ex", language_named("elixir")).documents
    assert [described(document) for document in documents] == [
        "class Cart 1-1",
        "method Cart.total 2-6",
        "method Cart.size 7-7",
        "method Cart.total 9-9",
    ]


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
    spec = language_named("c")
    found = extract(b"struct a {\n  int public;\n};\nstatic inline int f(void) { return 1; }\n", "a.h", spec)
    assert [(document.language, document.name) for document in found.documents] == [("c", "a"), ("c", "f")]


def test_deeply_nested_structs_end_within_seconds():
    spec = language_named("cpp")
    found = extract(b"struct A {" * 3_000 + b"};" * 3_000, "deep.cpp", spec)
    assert len(found.documents) == 32
    assert found.warnings[0] == "deep.cpp: 2968 definitions nested deeper than 32 left out"


@pytest.mark.parametrize("spec", LANGUAGES, ids=lambda spec: spec.name)
def test_an_empty_file_has_no_documents(spec):
    found = extract(b"", "empty", spec)
    assert (found.documents, found.warnings) == ([], [])
