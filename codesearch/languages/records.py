r"""One record for each language: all that the other folders know about it, except its query in `queries/`.

`codesearch.languages` finds records by name, path and content, and loads grammars and queries. A field with a default
has the value that most languages have. Patterns are texts, because every command reads this module and few need them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

_HASH, _DASHES, _SLASHES = (rf"(?:^|\s){mark}" for mark in (r"#(?!\{)", "--", "//"))
_SLASH_STAR = (("/*", "*/"),)
DOCSTRINGS = (('"""', '"""'), ("'''", "'''"))
_SELF = ("self", "Self", "cls")
# What is not closed ends with the line or the file, so a hostile source costs no more than another one.
_HASHED, _SLASHED = r"(?<!\S)\#[^\n]*", r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)"
_DOUBLE, _SINGLE = (rf"(?:(?<!\w)[fF$])?{quote}(?:\\.|[^{quote}\\\n])*+{quote}?" for quote in ('"', "'"))
_TRIPLE = r"(?:(?<!\w)[fF])?(?P<marks>\"{3}|'{3})(?>\\?[\s\S])*?(?:(?P=marks)|\Z)"
_QUOTES = rf"{_HASHED}|{_TRIPLE}|{_DOUBLE}|{_SINGLE}"
_BACKTICKS = rf"{_SLASHED}|{_DOUBLE}|{_SINGLE}|`(?:\\[\s\S]|[^`\\])*+`?"
_LETTERS = rf"{_SLASHED}|'\\?.'|{_TRIPLE}|{_DOUBLE}"


@dataclass(frozen=True, slots=True)
class Comments:
    """How comments begin and end."""

    line: str = _SLASHES  # pattern of what opens a comment that ends with its line
    blocks: tuple[tuple[str, str], ...] = _SLASH_STAR  # those of comments of several lines, and documentation


@dataclass(frozen=True, slots=True)
class Language:
    """How one language is recognised, parsed and read as text."""

    name: str  # a value of `--lang`
    endings: str = ""  # suffixes with the dot, `#!` and names on such a line, and names of files
    grammar: str = ""  # the wheel's module; "" without one
    factory: str = "language"  # the function of that module that returns the grammar
    query: str = ""  # stem of the query file if it is not `name`
    mask: str = ""  # the rules of `codesearch.parsing.masks` for what the grammar does not understand
    short_name: str = ""  # another name for it that users and editors have
    content: str = "code"  # "code", "docs", "config" or "other"
    is_markup: bool = False  # only its scripts are parsed; the rest is cut into blocks
    family: str = ""  # the first of the languages that use its definitions too
    separator: str = "."  # stands between the parts of a qualified name
    trailing_comment: str = ""  # of an indented language: such comments below the last statement are outside
    comments: Comments = Comments()
    strings: str = _LETTERS  # pattern of strings and comments
    long_string: str = ""  # a mark that opens a string of several lines in a file that is cut into blocks
    block: str = ""  # pattern of a line that opens a block, apart from what opens one in all languages
    section: str = ""  # pattern of a line that opens a section: first its indentation, last its title
    joins_sections: bool = False  # short sections are joined, because most are one key and its value
    sigil: str = r"(?<![\w#])(?:r#|@)(?=\w)"  # pattern of what is no part of a name: `r#type`, `@class`
    in_names: str = ""  # characters of names, apart from letters, digits and underscores
    after_names: str = ""  # characters that may end a name: the apostrophe, or the marks of its variants
    lexer: str = ""  # the name that Pygments has for it if it is not `name`
    # What stands in an import statement, to find its line fast.
    imports: tuple[str, ...] = ("import", "include", "require", "use ", "using", "load", "open", "source")
    has_exports: bool = False  # a file can export what it imports, also under another name
    opens_all: bool = False  # an import makes all names of a file or module known without a qualifier
    is_packaged: bool = False  # the definitions of a package are known in all its files
    has_open_classes: bool = False  # several files can define members of a class
    has_bases_in_brackets: bool = False  # as in `class A(B)`
    public: str = r"(?![^(]*\b(?:private|fileprivate|internal)\b)"  # pattern of signatures that all may use
    self_words: tuple[str, ...] = ("this",)  # what means the instance or class around
    needs_self: bool = False  # a member is never used without a qualifier
    binds: str = ""  # pattern of what binds NAME in a function: a parameter or a local variable
    key_mark: str = ""  # what stands behind the name of a field in a literal
    literal: str = ""  # pattern of what names the type of a literal before its bracket
    attribute: str = ""  # the end of a class's name that `[...]` leaves out
    keywords: frozenset[str] = frozenset()  # words that errors of the parser make names of

    def __hash__(self) -> int:
        return hash(self.name)  # Caches look records up for every definition.

    @property
    def extensions(self) -> tuple[str, ...]:
        """Suffixes of its files, with the dot."""
        return tuple(ending for ending in self.endings.split() if ending[0] == ".")

    @property
    def interpreters(self) -> tuple[str, ...]:
        """Names on a `#!` line, for files without a suffix."""
        return tuple(ending[2:] for ending in self.endings.split() if ending[0] == "#")

    @property
    def file_names(self) -> tuple[str, ...]:
        """Names of files without one of the suffixes."""
        return tuple(ending for ending in self.endings.split() if ending[0] not in ".#")

    @property
    def distribution(self) -> str:
        """Name of the wheel that holds the grammar."""
        return self.grammar.replace("_", "-")

    @property
    def is_script(self) -> bool:
        """Say whether it is JavaScript or TypeScript, which programs bundle, compile and minify."""
        return self.family == "javascript" and bool(self.grammar) and not self.is_markup


_DOCUMENTED = Comments(_HASH, DOCSTRINGS)
_TAGS = Comments(blocks=(("<!--", "-->"), *_SLASH_STAR))
_NONE = "(?!)"
_IMPORT, _FROM, _SOURCED = ("import",), ("import", "from", "require"), ("source", "\n.", "Import-Module")
_METHOD = r"\s*(?:(?:async|static|get|set)\s+)*(?!function\b)(?P<function>[\w$#]+)\s*\([^;{}=]*\)\s*\{"
_SIGNATURE = r"(?P<function>[a-z]\w*)\s*::?\s"
# What binds NAME: an assignment, `for` or `as`, and a parameter; declarations; a type before it; `:=`.
_BOUND = (
    r"^\s*(?:\w+\s*,\s*)*NAME\s*(?:,\s*\w+\s*)*(?::[^=\n(]+)?=(?!=)|\bfor\s[^\n:]*\bNAME\b[^\n:]*\sin\s"
    r"|\sas\s+NAME\s*[:,)]|\bdef\s+\w+\s*\([^)]*?(?<![\w=.])NAME\s*[:,=)]"
)
_DECLARED = (
    r"\b(?:const|let|var)\s+(?:[{[][^=;]*?(?<![\w.$])NAME\s*[,}\]=]|NAME\b)|[(,]\s*NAME\s*[,)][^;\n]*=>|\bNAME\s*=>"
    r"|\bfunction\b[^(\n]*\([^)]*?(?<![\w.$])NAME\s*[:,=)?]"
)
_TYPED = (
    r"(?<![\w.])(?!return|else|goto|case|new|throw|struct|enum|union|delete|typeof)[A-Za-z_]\w*(?:<[^<>;]*>|\[\])?"
    r"[\s*&]+NAME\s*[;=,)[:]"
)
_SHORT = (
    r"(?<![\w.])NAME\s*(?:,\s*\w+\s*)*:=|\w\s*,\s*NAME\s*(?:,\s*\w+\s*)*:=|\bvar\s+NAME\b"
    r"|^func[^{\n]*[(,]\s*NAME\s+[\w*[.]"
)
# The type of a literal: `Point{` of Go and Rust; `: Point = {` and `<Point>{` of TypeScript; `struct point p = {` of C.
_NAMED_LITERAL = r"(?P<type>[^\W\d]\w*)(?:::)?(?:\[[^][]*\]|<[^<>]*>)?\s*\Z"
_DECLARED_LITERAL = r":\s*(?:[\w.]+\.)?(?P<type>[^\W\d]\w*)(?:<[^=;{}]*>)?(?:\[\])*\s*=\s*\Z"
_C_LITERAL = r"(?P<type>[^\W\d]\w*)(?:[\s*]+[^\W\d]\w*(?:\[[^][]*\])*\s*=|\s*\))\s*\Z"
_hashed = partial(Language, comments=Comments(_HASH, ()))
_braced = partial(Language, comments=Comments(_DASHES, (("{-", "-}"),)))
_starred = partial(Language, comments=Comments(blocks=(("(*", "*)"),)))
_ocaml = partial(_starred, grammar="tree_sitter_ocaml", family="ocaml", after_names="'", sigil="^`")
_SAYS_PUBLIC, _PUB = r".*\b(?:public|protected|open)\b", r".*\bpub\b(?!\()"
_CAPITAL = r"(?:(?:func|type|var|const) )?(?:\([^)]*\) ?)?[A-Z]"  # after the receiver of a method
_KEYWORDS_OF_C = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if int long register return "
    "short signed sizeof static struct switch typedef union unsigned void volatile while".split()
)
_KEYWORDS_OF_CPP = _KEYWORDS_OF_C | frozenset(
    "bool catch class delete explicit friend namespace new operator private protected public template this throw try "
    "typename using virtual".split()
)
_KEYWORDS_OF_OBJC = _KEYWORDS_OF_C | frozenset("class namespace noexcept operator typename using".split())
_of_c = partial(
    Language,
    family="c",
    mask="c",
    imports=("include", "import"),
    opens_all=True,
    binds=_TYPED,
    literal=_C_LITERAL,
    keywords=_KEYWORDS_OF_C,
)
# fmt: off
_lua = partial(Language, family="lua", comments=Comments(_DASHES, (("--[[", "]]"),)), strings=_QUOTES, self_words=_SELF,
    needs_self=True, imports=("require", "load"))
_script = partial(Language, family="javascript", strings=_BACKTICKS, block=_METHOD, in_names="$", imports=_FROM,
    needs_self=True, has_exports=True, key_mark=":", literal=_DECLARED_LITERAL, binds=_DECLARED)
_page = partial(Language, grammar="tree_sitter_typescript", factory="language_typescript", query="typescript",
    is_markup=True)
LANGUAGES = (
    Language("go", ".go", "tree_sitter_go", imports=_IMPORT, strings=_BACKTICKS, needs_self=True, is_packaged=True,
        key_mark=":", literal=_NAMED_LITERAL, binds=_SHORT, public=_CAPITAL, short_name="golang"),
    Language("java", ".java", "tree_sitter_java", family="java", in_names="$", imports=_IMPORT, is_packaged=True,
        public=_SAYS_PUBLIC, binds=_TYPED),
    _script("javascript", ".js .jsx .mjs .cjs .es6 .jsm #!node", "tree_sitter_javascript"),
    Language("php", ".php .php3 .php4 .php5 .phtml .inc .module .install #!php", "tree_sitter_php", "language_php",
        separator="::", comments=Comments(f"{_HASH}|{_SLASHES}"), strings=_QUOTES,
        self_words=("this", "self", "static"), needs_self=True, is_packaged=True,
        imports=("use ", "require", "include"), opens_all=True),
    Language("python", ".py .pyi .pyw .ipynb #!python #!uv", "tree_sitter_python", comments=_DOCUMENTED,
        strings=_QUOTES, trailing_comment="#", self_words=_SELF, needs_self=True, imports=_IMPORT,
        has_bases_in_brackets=True, has_exports=True, key_mark="=", binds=_BOUND),
    Language("ruby", ".rb .rake .gemspec .podspec .rbi .ru Rakefile Gemfile Podfile Vagrantfile Fastfile #!ruby",
        "tree_sitter_ruby", comments=Comments(_HASH, (("\n=begin", "\n=end"),)), strings=_QUOTES, after_names="?!",
        sigil=r"^:|(?<![\w#])@(?=\w)", self_words=_SELF, has_open_classes=True, imports=("require", "load"),
        opens_all=True),
    _hashed("bash", ".sh .bash .ksh .zsh .bats #!bash #!sh #!dash #!ksh #!zsh #!bats", "tree_sitter_bash",
        separator="::", mask="bash", strings=_QUOTES, imports=_SOURCED, opens_all=True,
        block=r"(?:function\s+)?(?P<function>[\w:.-]+)\s*\(\)", short_name="shell"),
    _of_c("c", ".c .h", "tree_sitter_c", public=r"(?!.*\bstatic\b)"),
    _of_c("cpp", ".cpp .cc .cxx .c++ .hpp .hh .hxx .h++ .ipp .inl .tpp .tcc .cppm .ixx .cu .cuh .ino",
        "tree_sitter_cpp", separator="::", keywords=_KEYWORDS_OF_CPP, short_name="c++"),
    Language("csharp", ".cs .csx", "tree_sitter_c_sharp", mask="csharp", is_packaged=True, has_open_classes=True,
        imports=("using",), opens_all=True, attribute="Attribute", binds=_TYPED, public=_SAYS_PUBLIC,
        short_name="c#"),
    Language("dart", ".dart", "tree_sitter_dart", strings=_QUOTES, imports=_IMPORT, opens_all=True),
    Language("elixir", ".ex .exs #!elixir", "tree_sitter_elixir", comments=_DOCUMENTED, strings=_QUOTES,
        after_names="?!", imports=("import", "alias", "use ", "require"), opens_all=True),
    _braced("haskell", ".hs #!runhaskell #!runghc", "tree_sitter_haskell", mask="haskell", after_names="'",
        imports=_IMPORT,
        opens_all=True),
    Language("julia", ".jl #!julia", "tree_sitter_julia", mask="julia",
        comments=Comments(_HASH, (("#=", "=#"), *DOCSTRINGS)), strings=_QUOTES, after_names="?!",
        imports=("using", "import", "include"), opens_all=True),
    Language("kotlin", ".kt .kts", "tree_sitter_kotlin", family="java", mask="kotlin", imports=_IMPORT,
        is_packaged=True),
    _lua("lua", ".lua #!lua #!luajit", "tree_sitter_lua"),
    _lua("luau", ".luau #!luau #!lune", "tree_sitter_luau", mask="luau"),
    Language("nix", ".nix", "tree_sitter_nix", comments=Comments(_HASH), in_names="-", after_names="'",
        imports=_IMPORT),
    _of_c("objc", ".m .mm", "tree_sitter_objc", self_words=_SELF, keywords=_KEYWORDS_OF_OBJC,
        short_name="objective-c"),
    _ocaml("ocaml", ".ml #!ocaml", factory="language_ocaml", imports=("open",), opens_all=True),
    _ocaml("ocamli", ".mli", factory="language_ocaml_interface", lexer="ocaml"),
    Language("powershell", ".ps1 .psm1 .psd1 #!pwsh", "tree_sitter_powershell", mask="powershell", strings=_QUOTES,
        comments=Comments(_HASH, (("<#", "#>"),)), sigil=r"\$?(?:(?i:global|script|local|private):)?", imports=_SOURCED,
        opens_all=True),
    Language("rust", ".rs", "tree_sitter_rust", separator="::", mask="rust", self_words=_SELF, needs_self=True,
        imports=("use ",), has_exports=True, key_mark=":", literal=_NAMED_LITERAL, public=_PUB),
    Language("scala", ".scala .sc .sbt #!scala", "tree_sitter_scala", family="java", imports=_IMPORT, is_packaged=True),
    Language("swift", ".swift #!swift", "tree_sitter_swift", mask="swift", self_words=_SELF, has_open_classes=True,
        imports=_IMPORT, opens_all=True, public=_SAYS_PUBLIC),
    Language("zig", ".zig", "tree_sitter_zig", self_words=_SELF, needs_self=True, imports=_IMPORT, public=_PUB),
    _script("tsx", ".tsx", "tree_sitter_typescript", "language_tsx", "typescript", short_name="typescriptreact"),
    _script("typescript", ".ts .mts .cts #!deno #!bun #!ts-node", "tree_sitter_typescript", "language_typescript"),
    _page("astro", ".astro"),
    _page("html", ".html .htm .xhtml", comments=_TAGS, strings=_NONE, family="javascript", in_names="$"),
    _page("svelte", ".svelte", block=r"\s*\{#snippet\s+(?P<function>\w+)",
        comments=_TAGS, strings=_NONE, family="javascript", needs_self=True, imports=_FROM),
    _page("vue", ".vue", comments=_TAGS, strings=_NONE, family="javascript", needs_self=True, imports=_FROM,
        in_names="$"),
)
"""Programming languages with a grammar."""
BLOCK_LANGUAGES = (
    Language("ada", ".adb .ads"),
    Language("apex", ".cls .trigger"),
    Language("assembly", ".asm .s", block=r"(?:\.macro\s+|(?=\w+:))(?P<function>\w+)"),
    _hashed("awk", ".awk #!awk #!gawk"),
    Language("batch", ".bat .cmd", block=r":(?P<function>\w[\w-]*)\s*$"),
    Language("bicep", ".bicep"),
    Language("capnp", ".capnp"),
    Language("clojure", ".clj .cljs .cljc .edn", in_names="-*?!", long_string='"'),
    _hashed("cmake", ".cmake CMakeLists.txt"),
    _hashed("coffeescript", ".coffee", family="javascript", in_names="$", strings=_QUOTES, long_string="'''",
        block=r"\s*@?(?P<function>[\w.$]+)\s*[:=]\s*(?:\([^()]*\)\s*)?[-=]>"),
    _hashed("crystal", ".cr", strings=_QUOTES, self_words=_SELF, after_names="?!", has_open_classes=True),
    Language("css", ".css .scss .sass .less", in_names="-"),
    Language("cython", ".pyx .pxd .pxi", comments=_DOCUMENTED, strings=_QUOTES, long_string="'''", self_words=_SELF,
        imports=_IMPORT, opens_all=True, has_bases_in_brackets=True,
        block=r"\s*cp?def\s+(?:(?:class|struct|enum|union)\s+(?P<class>\w+)"
        r"|(?:[\w\[\],.*& ]+[\s*&])?(?P<function>\w+)\s*\()"),
    Language("d", ".d"),
    _braced("elm", ".elm", imports=_IMPORT, block=_SIGNATURE),
    Language("erlang", ".erl .hrl",
        block=r"-(?:record|type|opaque|define)[\s(]+(?P<class>\w+)|'(?P<function>[^']+)'\("),
    _hashed("fish", ".fish #!fish", long_string='"'),
    Language("flatbuffers", ".fbs"),
    Language("fortran", ".f .f90 .f95 .f03 .f08 .for"),
    _starred("fsharp", ".fs .fsx .fsi", after_names="'",
        block=r"\s*(?:and\s+(?:(?:inline|private|internal)\s+)*(?=(?-i:[a-z_])\w*'*\s+[^=\s][^=]*=)"
        r"|(?:(?:static|abstract|default|override)\s+)*member\s+val\s+(?:(?:private|internal|public|mutable)\s+)*"
        r"|let\s+(?:(?:rec|inline|private|internal)\s+)*\((?=\|))(?P<function>\|[^()]+\||\w+'*)"
        r"|\s*and\s+(?:\[<[^>]*>\]\s*)?(?:(?:private|internal|public)\s+)?(?P<class>(?-i:[A-Z])\w*)"),
    Language("gdscript", ".gd", comments=_DOCUMENTED, self_words=_SELF, has_bases_in_brackets=True),
    Language("gleam", ".gleam", long_string='"'),
    Language("graphql", ".graphql .gql .graphqls", comments=_DOCUMENTED),
    Language("groovy", ".groovy .gradle Jenkinsfile #!groovy", family="java", strings=_QUOTES, long_string="'''",
        imports=_IMPORT, is_packaged=True),
    Language("haxe", ".hx"),
    Language("hcl", ".tf .tfvars .hcl", comments=Comments(_HASH), short_name="terraform"),
    _hashed("just", ".just justfile Justfile", block=r"@?(?P<function>[a-z_][\w-]*)(?:\s[^:=]*(?:=[^:=]*)*)?:(?!=)"),
    Language("lisp", ".lisp .lsp .el .scm .ss .rkt .fnl", comments=Comments(blocks=(("#|", "|#"),)), in_names="-*?!",
        long_string='"'),
    Language("matlab", ".matlab"),
    Language("mojo", ".mojo", comments=_DOCUMENTED, self_words=_SELF),
    Language("nim", ".nim .nims", comments=Comments(_HASH, (("#[", "]#"),)),
        block=r"\s+(?P<class>\w+)\*?(?:\[[^\]]*\])?\s*=\s*(?:(?:ref|ptr)\s+)?(?:object|enum|tuple|concept|distinct)\b"),
    _hashed("nushell", ".nu #!nu"),
    Language("odin", ".odin"),
    Language("pascal", ".pas .pp .dpr",
        block=r"\s*(?:class\s+)?(?:constructor|destructor|function|procedure|operator)\s+(?P<function>[\w.]+)"),
    Language("perl", ".pl .pm .t .psgi #!perl", comments=Comments(_HASH, (("\n=head", "\n=cut"), ("\n=pod", "\n=cut"))),
        strings=_QUOTES, self_words=_SELF, needs_self=True, block=r"\s*(?:package|class)\s+(?P<class>[\w:]+)"),
    Language("prisma", ".prisma"),
    Language("protobuf", ".proto"),
    _braced("purescript", ".purs", after_names="'", block=_SIGNATURE),
    _hashed("r", ".r #!Rscript", strings=_QUOTES, long_string='"',
        block=r"(?:[`'\"](?=[^`'\"]+[`'\"]\s*(?:<-|=)\s*(?:function\b|\\\())|set(?:Generic|Method|ReplaceMethod)\(\s*[\"'])"
        r"(?P<function>[^`'\"]+)"
        r"|(?:(?=[\w.]+\s*(?:<-|=)\s*(?:\w+::)?(?:R6Class|setRefClass|setClass)\()|setClass\(\s*[\"'])(?P<class>[\w.]+)"),
    Language("reason", ".re .res .resi"),
    Language("rego", ".rego"),
    Language("shader", ".glsl .vert .frag .comp .hlsl .wgsl .metal"),
    Language("solidity", ".sol", block=r"\s*(?:(?:modifier|event|error)\s+(?=\w)"
        r"|(?=(?:constructor|receive|fallback)\s*\())(?P<function>\w+)"),
    Language("sql", ".sql .ddl .pgsql .plsql .pkb .pks", comments=Comments(_DASHES),
        block=r"\s*(?:(?:static|member|constructor|map|order|final|overriding|instantiable|not)\s+)+(?:function|procedure)\s+"
        r"(?P<function>\w+)|\s*create\s+(?:or\s+(?:replace|alter)\s+)?(?:(?:bitmap|clustered|columnstore|external|"
        r"force|foreign|fulltext|hybrid|immutable|memory|no\s?force|nonclustered|private|public|recursive|secure|shared|"
        r"spatial|temp|temporary|transient|trusted|unique|unlogged|virtual|volatile|xml|"
        r"(?:algorithm|definer)\s*=\s*\S+|sql\s+security\s+\w+)\s+)*"
        r"(?:(?:table|view)\s+(?:if\s+not\s+exists\s+)?(?=\#)|(?:access\s+method|aggregate|collation|database(?:\s+link)?|"
        r"domain|event(?:\s+trigger)?|extension|foreign\s+data\s+wrapper|index|language|login|materialized\s+view|operator|"
        r"policy|publication|queue|role|rule|schema|sequence|server|statistics|subscription|synonym|table|tablespace|"
        r"text\s+search\s+\w+|type\s+body|user|view)"
        r"(?:\s+concurrently|\s+if\s+not\s+exists)*\s+)"
        r'(?:[\w$]+\.(?=["`\[\#])|["`\[][\w $-]+["`\]]\.)*["`\[\#]{0,2}'
        r'(?P<class>(?<=["`\[])[^"`\]]+|(?:[\w$]+\.)*\w[\w$\#]*)'),
    Language("starlark", ".bzl .bazel .star BUILD WORKSPACE Tiltfile", comments=_DOCUMENTED, long_string="'''"),
    _hashed("tcl", ".tcl #!tclsh", long_string='"'),
    Language("template",
        ".cshtml .razor .erb .eex .heex .leex .ejs .hbs .mustache .twig .jinja .jinja2 .j2 .njk .liquid "
        ".haml .slim .pug",
        block=r"\s*\{%[-+~]?\s*(?:block|macro)\s+(?P<function>\w+)|\s*\{\{\#\*\s*inline\s+[\"'](?=\w)(?P<class>[\w-]+)"),
    Language("thrift", ".thrift"),
    Language("vala", ".vala"),
    Language("verilog", ".v .sv .svh .vh",
        block=r"\s*(?:virtual\s|static\s)*(?:function|task)(?:\s[\w\[\]:-]+)*\s"
        r"(?P<function>\w+)\s*[(;]|package\s(?P<class>\w+)"),
    Language("vhdl", ".vhd .vhdl"),
    Language("vim", ".vim"),
    Language("visualbasic", ".vb .vbs .bas"),
    Language("yacc", ".y .yy .ypp"),
)
"""Programming languages without a grammar; their files are cut into blocks."""
_docs = partial(Language, content="docs", separator=" > ")
_config = partial(Language, content="config")
_TABLE = r"([ \t]*)\[\[?\s*([^\s,\[\]][^,\[\]]*)\]\]?\s*(?:[#;].*)?$"
TEXT_LANGUAGES = (
    _docs("markdown", ".md .markdown .mdx"),
    _docs("rst", ".rst"),
    _docs("text",
        ".txt ARCHITECTURE CHANGELOG CHANGES CONTRIBUTING FAQ HACKING HISTORY INSTALL NEWS README TODO UPGRADING"),
    _config("dockerfile", ".dockerfile Dockerfile Containerfile", comments=Comments(_HASH, ()),
        section=r"([ \t]*)(?i:FROM)\s+(?:--\S+\s+)*(\S+)(?:\s+(?i:AS)\s+(\S+))?"),
    _config("dotenv", ".env env"),
    _config("ini", ".ini .cfg .conf .properties", section=_TABLE),
    _config("json", ".json .jsonc .json5", joins_sections=True, section=r"""([ \t]+)"([^"]+)"\s*:"""),
    _config("makefile", ".mk Makefile makefile GNUmakefile", comments=Comments(_HASH, ()),
        section=r"()(?:define\s+(\S+)|([\w$%/(][^:=#]*)::?(?![=:]))"),
    _config("toml", ".toml Pipfile", comments=Comments(_HASH, ()), section=_TABLE),
    _config("yaml", ".yaml .yml", comments=Comments(_HASH, ()), joins_sections=True,
        section=r"""([ \t]*)["']?([^\s#"'\-{\[][^:#"']*)["']?:(?:\s|$)"""),
)
# fmt: on
"""What `--content` adds. `.env.example` is read like `.env`, and so on."""
OTHER = Language("other", content="other")
"""Any other file of text, and what is true of a language that no record has."""
