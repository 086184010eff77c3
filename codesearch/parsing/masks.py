r"""The bytes of a file -> bytes of the same length that its grammar understands.

Grammars do not expand macros, and some do not know all of their language. What they stumble over is replaced by spaces
or by another name, so each definition keeps its bytes and its lines. Names and code are read from the file itself.

    class GUI_EXPORT Widget : QObject {        class            Widget : QObject {
    TEST_CASE("wraps", "[ring]") {             TEST_CASE ______           {
    cfg_if! { if #[cfg(unix)] { fn f() {} } }                               fn f() {}

All patterns are linear in the file. Words that are replaced in a comment or a string do no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from codesearch.parsing.identifiers import ARGUMENTS

_MAX_DROPPED, _MAX_PARAMETER = 4_000, 100
_ANY, _NO_WORD = re.compile(rb"[^\n]"), re.compile(rb"\W")
_CONDITIONAL = re.compile(rb"^[ \t]*+#[ \t]*(?:if|else)", re.MULTILINE)
_PARTS = {
    b"MACRO": rb"[A-Z][A-Z0-9_]{2,60}(?:\([^()\n]{0,200}(?:\([^()\n]{0,200}\)[^()\n]{0,200}){0,4}\))?",
    # Arguments on one line, with calls among them; those of an annotation of Kotlin, which may be missing.
    b"ARGUMENTS": rb"\([^()\n]{0,300}(?:\([^()\n]{0,100}\)[^()\n]{0,100}){0,6}\)",
    b"KOTLIN_ARGUMENTS": ARGUMENTS,
    # The words that begin a declaration of C, or stand in a type of it.
    b"KEYWORD": rb"""(?:class|struct|union|enum|namespace|template|typedef|static|extern|inline|virtual|const|constexpr
        |explicit|friend|private|protected|public|using|void|bool|char|int|long|short|float|double|unsigned|signed
        |@interface|@protocol|@implementation)\b""",
    b"STORAGE": rb"(?:const|extern|inline|static|virtual)",
    b"BUILT_IN": rb"(?:unsigned|signed|long|short|int|char|float|double|void|bool|_Bool)\b",
    b"NO_TYPE": rb"(?:static|extern|const|volatile|register|typedef|return|goto|else|case|struct|union|enum|__\w+)\b",
    # Keywords of Kotlin in some places only, and names elsewhere.
    b"SOFT": rb"""(?:abstract|actual|annotation|companion|const|crossinline|data|enum|expect|external|final|infix
        |inline|inner|internal|lateinit|noinline|open|operator|out|override|private|protected|public|reified|sealed
        |suspend|tailrec|value|vararg)\b""",
    # Space and comments of Rust; the condition of a branch of `cfg_if!`.
    b"SPACE": rb"(?>\s+|//[^\n]*|/\*.*?(?:\*/|\Z))*+",
    b"CFG": rb"if[ \t]+\#\[[^\]\n]{0,300}(?:\][^\]\n{]{1,100})?\]\s{0,40}\{",
}


def _pattern(text: bytes, flags: re.RegexFlag = re.VERBOSE) -> re.Pattern[bytes]:
    """Compile a pattern in which %(NAME)b stands for a part."""
    return re.compile(text % _PARTS, flags | re.VERBOSE)


# The patterns of C begin with a line end, which `re` finds five times as fast as the begin of a line.
# `class EXPORT Name final : Base {`, without the name of a bit-field, which ends in `;`.
_EXPORTED = _pattern(
    rb"""\n[ \t]*+(?:typedef[ \t]+|template[ \t]*<[^\n]{0,200}>[ \t]*)?
    (?:class|struct|union|enum)\b[ \t]+(?:(?:class|struct)[ \t]+)?
    ((?!final\b|class\b|struct\b)(?:                                        # 1: up to three macros
        (?:\w{1,60}(?:\([^()\n]{0,100}\)\s{1,9}|[ \t])|\[\[[^\[\]\n]{1,100}\]\][ \t])
        [ \t]*(?!final\b)(?=[A-Za-z_\[])){1,3})
    (?!(?:const|noexcept|override|volatile)\b)[\w:<>, ]{1,200}\s{0,40}      # the name
    (?:\{|:(?!:)[^;{}]{0,500}\{)                                            # the bases and the brace"""
)
# A macro before a declaration, and one that begins or ends a group of them.
_PREFIX = _pattern(
    rb"""\n[ \t]*+(?:(\w{0,40}(?:BEGIN|END)_[A-Z_]{1,40})(?=[ \t\r]*\n(?!\s{0,40}\}))|(%(MACRO)b)(?=
    \s{1,40}(?:(?:(?://|\#)[^\n]{0,200}|/\*[^*]{0,2000}\*/|                    # comments, directives
    [A-Z][A-Z0-9_]{2,60}(?:\([^()\n]{0,80}\))?)\s{1,40}){0,4}                  # and macros between them
    (?:%(KEYWORD)b|(?:\#[ \t]*endif\b[^\n]{0,100}\s{0,9})?\Z)))             # the declaration, or the end of the file"""
)
# `void NAME(load_table)(double *v) {` and `int (plus)(int a) {`.
_WRAPPED = _pattern(
    rb"""\n(?!(?:if|for|while|switch|return|else)\b)\w[\w*& \t]{0,80}?[ \t*&]
    ((?:[A-Za-z_]\w{0,60})?\([ \t]*)\w{1,80}[ \t]*(\))      # 1: the macro; the name; 2: the parenthesis behind it
    \s{0,40}(?=\([^;{}]{0,500}\)\s{0,40}\{)                 # the parameters"""
)
# `TEST_CASE("title", "[tags]") {` and `BOOST_AUTO_TEST_CASE(name) {`. Groups: the parenthesis; title or name; the rest.
_TITLED = _pattern(
    rb"""\n[ \t]*+[A-Z][A-Z0-9_]{2,60}(\()[ \t]*"((?:[^"\\\n]|\\.){1,200})"
    ([^;{}()]{0,200}(?:\([^;{}()]{0,100}\)[^;{}()]{0,100}){0,6}\))(?=\s{0,40}\{)"""
)
_DEFINING = _pattern(
    rb"""\n[A-Z][A-Z0-9_]{2,60}(\()[ \t]*(\w{1,80}(?:,[ \t]?\w{1,80}(?=[ \t]*\)))?)
    ((?:,[^;{}()"]{0,300})?\))(?=\s{0,40}\{)"""
)
# `__printf(1, 2)` before a function's name.
_NUMBERED = _pattern(
    rb"""\([ \t]*\d{1,9}(?:[ \t]*,[ \t]*\d{1,9}){0,4}[ \t]*\)
    (?=\s{1,40}\**(?:[A-Za-z_]\w{0,80}[\s*]{1,20}){0,6}[A-Za-z_]\w{0,80}[ \t]*\()   # the words before it, and it"""
)
_WORDS = re.compile(
    rb"[ \t]*(?:[\w*][\w*,() \t]*[ \t*])?((?!_BitInt\b|_?[Aa]lignas\b)[A-Za-z_]\w{0,80})[ \t]?"
)
# `static __section("x") int f(` and `__owur STACK_OF(X) *f(`: an attribute at the begin of a function.
_LEADING = _pattern(
    rb"""\n(?:(?:static|extern|inline|__\w{1,40}|[A-Z][A-Z0-9_]{2,40})[ \t]+){0,5}
    (__(?!attribute__|declspec|typeof|asm|extension)[a-z]\w{1,60}                          # 1: the attribute
    (?:[ \t]?%(ARGUMENTS)b|(?=[ \t]+[A-Z]\w{1,60}\([ \t]*\w{1,80}[ \t]*\)[\s*]{1,20}\w{1,80}[ \t]*\()))
    (?=\s{1,9}(?:[A-Za-z_]\w{0,80}(?:\([ \t]*\w{1,80}[ \t]*\))?[\s*]{1,20}){1,5}\w{1,80}[ \t]*\()  # type and name"""
)
# `typedef void (APIENTRYP F)(int)`, where the macro has the star.
_POINTER = re.compile(rb"\([ \t]*([A-Z_][A-Z0-9_]{2,60})[ \t]+(?=\w{1,80}\)[ \t]?\()")
# A loop over the members of something: `list_for_each_entry(a, b, c) {`.
_EACH = re.compile(rb"\n[ \t]++((?:\w{1,60}_)?(?:for_?each|FOR_?EACH|do_each|Q_FOREACH)\w{0,60})(?=[ \t]?\()")
_WHILE_EACH = re.compile(rb"\}[ \t]?(while_\w{1,60})(?=\()")
# The begin of a function or a variable at the begin of a line.
_HEAD = _pattern(
    rb"""\n((?:[A-Za-z_]\w{0,60}(?:[\s*]{1,9}|[ \t*]{10,99}\n?)){2,9})      # 1: the words before its name
    ((?!_{2,4}(?:acq|align|alloc|attr|cache|must|packed|printf|rel|scanf|section))[A-Za-z_]\w{0,80})    # 2: its name
    [ \t]{0,9}([(;=\[])                                                     # 3: what follows"""
)
_HEAD_WORD = re.compile(rb"(?:(?:struct|union|enum|class|typename)\s+)?\w+")
_KNOWN_WORD = _pattern(
    rb"""(?:struct|union|enum|class|typename)\s     # A type, which is known to be one, or a word that is no type.
    |(?:static|extern|const|volatile|inline|register|typedef|auto|constexpr|consteval|explicit|friend|mutable|virtual
    |template|else|return|new|delete|goto|case|throw|namespace|using|operator|define|thread_local|_Thread_local
    |_Noreturn|restrict)\Z"""
)
# Attributes behind the name of a member or a variable, or behind the brace of its type.
_TRAILING = _pattern(
    rb"""__\w{1,60}(?:[ \t]?%(ARGUMENTS)b)?(?:[ \t]+__\w{1,60}(?:[ \t]?%(ARGUMENTS)b)?)*+
    [ \t]*(?=[;=]|\w{1,80}[ \t]*;)                  # the end, or the name behind the brace"""
)
_OF_TYPES = re.compile(
    rb"_{2,4}(?:\w{1,60}\(|aligned|attribute|cacheline|designated|may_alias|no_rand|packed|rand)"
)
_BUILT_IN_WORD = _pattern(rb"%(BUILT_IN)b")
# What may stand before such an attribute.
_DECLARED = _pattern(
    rb"""\s*(?:(?:static|extern|const|volatile|register)\s+)*+
    (?:(?:struct|union|enum)\s+\w+|%(BUILT_IN)b(?:\s+%(BUILT_IN)b)*+|(?:__\w{0,6}\d\d|(?!%(NO_TYPE)b)\w+)\b)  # the type
    (?:[\s*]+(?:const|volatile|__\w+)\b)*[\s*]+
    (?!%(BUILT_IN)b|__)\w+(?:\s*:\s*\w+)?\s*        # the name, with the width of a bit-field"""
)
# `JNIEXPORT jint JNICALL name(`: the macros before the type, and those between the type and the name.
_SPECIFIER = _pattern(
    rb"""\n[ \t]*+(?:template[ \t]*<[^\n]{0,100}>[ \t]*)?(?:(?:static|extern|inline|virtual)[ \t]+){0,3}
    ((?:%(MACRO)b[ \t]+){1,3})                                                             # 1: the macros
    (?=(?:[A-Za-z_][\w:<>,]{0,80}[\s*&]{1,20}){1,4}(?:[\w:~<>]{1,80}|operator[^\w\s(]{1,3})[ \t]*\()"""
)
_CONVENTION = _pattern(
    rb"""\n[ \t]*+(?:%(STORAGE)b[ \t]+){0,4}(?!%(STORAGE)b\b)[A-Za-z_][\w:<>, \t]{0,80}[\s*&]   # the type
    ((?:%(MACRO)b[ \t]+){1,2})(?=\w{1,80}[ \t]*\()              # 1: the macros"""
)
# `void f(int n UNUSED)`: the macro behind a parameter.
_UNUSED = re.compile(rb"[ \t](?:[A-Z][A-Z0-9_]{2,60}|__(?:maybe_)?unused)(?=\s{0,40}[,)])")
_PARAMETER = re.compile(rb"[\w*][ \t*]+\w{1,80}[ \t]*\Z")
# `API_AVAILABLE(ios(10), macos(10.12))` behind a declaration, `Q_DECL_DEPRECATED` behind the name of an enumerator.
_AVAILABLE = _pattern(
    rb"""\b([A-Z_]{0,40}(?:AVAILABLE|DEPRECATED)[A-Z_]{0,40}%(ARGUMENTS)b)(?=\s{0,40}[;{=,])
    |(?<=\w[ ])([A-Z_]{1,40}_DEPRECATED\w{0,20}(?:\(\s{0,40}"[^"\n]{0,200}"\))?)(?=\s{0,40}[;=,}])"""
)
# The patterns up to `_TYPE_ARGUMENT` are for files with errors. A macro that is alone on a line:
_ALONE = _pattern(
    rb"""\n[ \t]*+((?:static[ \t]+)?[A-Z][A-Z0-9_]{2,60}
    (?:[ \t]*(?:%(ARGUMENTS)b|\("(?:[^"\\\n]|\\.){0,300}"\))|(?![ \t]*\s{1,40}\})))     # not the last value of an enum
    [ \t\r]*$(?!\s{0,40}(?:[{:,;)?&|+*.=<>-]|/(?![/*])))                                # nothing goes on below it""",
    re.MULTILINE,
)
# A macro below or behind the parameters.
_BEHIND = _pattern(rb"\)[ \t]*(?:const\b|override\b|noexcept\b)?\s{0,40}(%(MACRO)b)(?=\s{0,40}[;{])")
# What Qt adds to classes: `public slots:` and `signals:`.
_SECTION = _pattern(
    rb"\n[ \t]*+(?:(?:public|protected|private)[ \t]+(\w{1,40})[ \t]*:|((?:Q_SIGNALS|signals)[ \t]*:))"
)
# A macro before a declaration, also behind another specifier.
_INNER = _pattern(
    rb"""(?:[\n;{}>]|\b(?:constexpr|explicit|friend|inline|static|virtual)\b)[ \t]*(%(MACRO)b)
    (?=\s{1,40}(?:%(KEYWORD)b|(?:auto|friend|operator)\b
    |~?\w{1,60}\([^;{}]{0,300}\)[\w\s]{0,40}:(?!:)|~))          # a constructor with initialisers, a destructor"""
)
# A type as an argument: a pointer, or a name behind a keyword.
_TYPE_ARGUMENT = _pattern(
    rb"""(,\s{0,40}(?:(?:\w{1,60}[ \t]+){0,3}\w{1,60}[ \t]*\*{1,3}
    |(?:(?:const|struct|union|enum|unsigned|long)[ \t]+){1,3}\w{1,80}))(?=\s{0,9}[,)])"""
)
# Of C++: instantiations, `inline` before `Type::operator bool()`, the word before an exported declaration, and imports.
_MODULE = _pattern(
    rb"""\n[ \t]*+(?:((?:extern[ \t]+)?template\b(?!\s{0,40}<)[^;{}]{1,300};)
    |(inline[ \t]+)(?=[\w:<>,]{1,80}::operator[ \t]+[\w:]{1,80}[ \t]*\()
    |(export)(?=\s{1,40}(?!import\b|module\b)[\w:\[{])
    |((?:export[ \t]+)?(?:import|module)\b[ \t]*(?:[\w.:]{1,80}|<[^<>\n]{1,80}>|"[^"\n]{1,80}")?[ \t]*;))"""
)
# The type of an enum, and the width of an integer.
_ENUM_TYPE = _pattern(
    rb"\benum\b(?:[ \t]+\w{1,80})?[ \t]*(:[ \t]*\w[\w ]{0,40})(?=\s{0,40}\{)|\b_BitInt[ \t]*(\([^()\n]{1,80}\))"
)
# An enum of Apple: `typedef NS_ENUM(NSInteger, Name) {`. Groups: what is before the name; the parenthesis behind it.
_NS_ENUM = _pattern(
    rb"""\n[ \t]*+((?:typedef[ \t]+)?(?:NS|CF)_(?:CLOSED_|ERROR_)?(?:ENUM|OPTIONS)[ \t]*\([^(),;{}]{1,80},)
    [ \t]*\w{1,80}[ \t]*(\))(?=\s{0,40}\{)"""
)

# Comments, strings, directives and brackets of C, C#, Objective-C and Swift.
_C_TOKEN = _pattern(
    rb"""//[^\n]* | /\*.*?(?:\*/|\Z)
    | R"([^()\\\s]{0,16})\(.*?(?:\)\1"|\Z) | "(?:[^"\\\n]|\\.)*"? | '(?:[^'\\\n]|\\.){0,8}'?      # 1: of a raw string
    | ^[ \t]*\#[ \t]*(\w*)((?:[^\n\\]|\\.)*) | [(){}]           # 2: the word of a directive, 3: its condition""",
    re.MULTILINE | re.DOTALL,
)
# No `;` or bracket, and the last line, which is no directive, ends with a word or a parenthesis.
_HALF = re.compile(rb"[^;{}]{0,1000}(?<!\\)\n[ \t]*+(?!\#)[^;{}\n]{0,300}[\w)\]>][ \t\r]*\n[ \t]*\Z")
_TRUE = re.compile(rb"\s*(?:!|1\s*$)")
_NEXT_BRANCH = (b"elif", b"elseif", b"else", b"endif")
_STEPS = {b"{": (1, 0), b"}": (-1, 0), b"(": (0, 1), b")": (0, -1)}

# `${name:+${name};}` of Bash, which the grammar takes for the end of a string.
_EXPANSION = re.compile(rb"(\$\{[^{}\n]*+(?:\{[^{}\n]*+\}[^{}\n]*+)*+\})")
# `ref partial struct` and `extension(string text) {` of C#: what follows is a member of the class around it.
_REF_STRUCT = re.compile(rb"\b(ref)[ \t]+partial[ \t]+struct\b")
_EXTENSION = _pattern(
    rb"\n[ \t]*+(extension[ \t]*(?:<[^<>(){}\n]{0,200}>)?[ \t]*\([^(){}\n]{0,200}\)[^;{}]{0,200}\{)"
)

# Names of Kotlin that are keywords in some places.
_SOFT_KEYWORD = _pattern(rb"\b%(SOFT)b(?=\(|[ \t]*(?:[=:,.)\]{?;+*/<>-]))|(?<=\.)%(SOFT)b")
# The arguments of an annotation, and words before a declaration: the grammar may take them for an expression.
_ANNOTATED = _pattern(
    rb"""@[\w.:]{1,80}%(KOTLIN_ARGUMENTS)b\s{1,80}((?:(?!companion\b|enum\b)%(SOFT)b\s{1,80}){0,6})
    (?=@|(?:class|companion|enum|fun|interface|object|typealias|val|var)\b)"""
)
# The condition of a branch of `when`.
_GUARD = re.compile(rb"^[ \t]*+(?!if\b)[^\n{}=>]{1,200}?\b(if\b[^\n{}]{1,200}?)(?=->)", re.MULTILINE)
# Parameters that a function or its type takes from its context.
_CONTEXT = _pattern(
    rb"""\b(context%(ARGUMENTS)b)(?=\s{1,80}
    (?:@?[\w.]{1,40}(?:\([^()\n]{0,100}\))?\s{1,40}){0,6}(?:fun|val|var|class|interface|object)\b   # a declaration
    |[ \t]*(?:[\w.<>?]{1,80}\.)?\([^()\n]{0,200}\)[ \t]*->)                                         # a type"""
)
# The annotations of a constructor on a separate line.
_CONSTRUCTOR = _pattern(
    rb"""\bclass[ \t]+\w{1,80}[ \t]*(?:<[^<>(){}\n]{0,200}>)?\s*\n[ \t]*((?:@[\w.]{1,60}[ \t]+){1,4})
    (?=(?:\w{1,20}[ \t]+)?constructor\b)"""
)
# Words of newer versions.
_NEWER = re.compile(rb"\b(actual)(?=[ \t]+(?:constructor|val|var)\b)|(?<=@)(all:)(?=\w)")
# The end of a body on one line, and what follows such a body.
_ONE_LINE_BODY = _pattern(
    rb"""[\w)\]"'?!]([ \t])\}|(?<=\})([ \t])
    (?=(?:class|companion|constructor|fun|init|object|override|private|val|var)\b)"""
)
# A call of `get` or `set` below a property, which the grammar takes for its accessor.
_NO_ACCESSOR = _pattern(
    rb"""^[ \t]*+([gs]et)(?=[ \t]*\((?:[ \t]*["\d]|[^()\n]{0,200}\)[ \t]*[\w.]))""", re.MULTILINE
)
# The marks of a string with several dollars.
_DOLLARS = re.compile(rb"(?<![\w$])(\${2,8})(?=\")")
# `m?.total = 3` and `operator +=` of C#: the question mark; the sign.
_CONDITIONAL_TARGET = re.compile(rb"(\?)[.\[][\w.?!\[\]\"' ]{1,100}[-+*/%&|^?]{0,2}=(?![=>])")
_COMPOUND = re.compile(rb"\boperator[ \t]+(?:checked[ \t]+)?([-+*/%&|^]=)")
_COMPOUND_SHIFT = re.compile(rb"\boperator[ \t]+(?:checked[ \t]+)?(<<=|>>=)")
# Directives of Haskell between two branches: the grammar skips the second one.
_OTHER_BRANCH = re.compile(rb"^(\#[ \t]*(?:else|elif)\b[^\n]*)", re.MULTILINE)
# A function of types of Luau.
_TYPE_FUNCTION = re.compile(rb"^[ \t]*+((?:export[ \t]+)?type[ \t]+)(?=function\b)", re.MULTILINE)
# Parameters of types, which may have defaults: of a type, a function, and the type of a function. Packs of types.
_TYPE_PARAMETERS = _pattern(
    rb"""(?:\btype[ \t]+\w{1,80}|\bfunction\b[ \t]*[\w.:]{0,80}|[=(:,|&>])\s{0,9}
    (<[^<>(){}\n]{1,200}(?:<[^<>\n]{0,80}>[^<>(){}\n]{0,80}){0,4}>)(?=\s{0,9}[(=])
    |(?<=\w)(\.{3})|[:>][ \t](\.{3})(?=\w)"""
)
# Keywords as symbols of Julia; a function of another module without methods.
_SYMBOL = _pattern(
    rb"""(?<![\w:)\]}"'!])(:(?:abstract|baremodule|begin|break|catch|const|continue|do|elseif|else|end|export|finally
    |for|function|global|if|import|let|local|macro|module|mutable|primitive|quote|return|struct|try|using|where|while)\b)"""
)
_NO_METHODS = re.compile(rb"^[ \t]*+function[ \t]+((?:\w{1,60}\.){1,5})\w{1,60}[ \t]+end\b", re.MULTILINE)
# Fields of a struct of Julia that do not change.
_CONST_FIELD = re.compile(rb"^[ \t]+(const)[ \t]+\w{1,80}[ \t\r]*(?:::[^\n=]{1,200})?$", re.MULTILINE)
# An empty block as a value in PowerShell.
_EMPTY_BLOCK = re.compile(rb"[=(,\"'][ \t]*(\{\s{0,40}\})")
# The path behind a variable, as in `$PSScriptRoot/a.psm1`.
_PATH_BEHIND = re.compile(rb"\$\w{1,60}((?:[\\/][\w.*-]{1,100}){1,20})(?=\s)")
_OF_DECLARATIONS = (_EXPORTED, _PREFIX, _LEADING, _SPECIFIER, _CONVENTION, _WRAPPED)
_FIRST = {
    "c": (_MODULE, _ENUM_TYPE, _NS_ENUM, *_OF_DECLARATIONS, _EACH, _WHILE_EACH, _POINTER),
    "csharp": (_CONDITIONAL_TARGET,),
    "haskell": (_OTHER_BRANCH,),
    "julia": (_NO_METHODS,),
    "kotlin": (_ANNOTATED,),
    "luau": (_TYPE_FUNCTION,),
}
"""Rules of a language -> what is blanked in every file: the groups of each pattern."""
_FIRST_REPLACED = {
    "c": ((_EACH, b"if"), (_WHILE_EACH, b"while"), (_POINTER, b"*")),
    "csharp": ((_COMPOUND, b"=="), (_COMPOUND_SHIFT, b">>>")),
    "julia": ((_SYMBOL, b":_"),),
}
_BLANKED = {
    "c": (_ALONE, _BEHIND, _AVAILABLE, _SECTION, _INNER, _TYPE_ARGUMENT),
    "bash": (_EXPANSION,),
    "csharp": (_REF_STRUCT,),
    "julia": (_CONST_FIELD,),
    "kotlin": (_GUARD, _CONTEXT, _CONSTRUCTOR, _NEWER, _DOLLARS),
    "luau": (_TYPE_PARAMETERS,),
    "powershell": (_EMPTY_BLOCK, _PATH_BEHIND),
}
"""What is blanked in a file with errors."""
_REPLACED = {
    "bash": ((_EXPANSION, b"$x"),),
    "kotlin": ((_SOFT_KEYWORD, b"_"), (_ONE_LINE_BODY, b";"), (_NO_ACCESSOR, b"_")),
    "powershell": ((_EMPTY_BLOCK, b"0"),),
}
"""What such a pattern, or its last group, begins with instead."""

# Comments, strings and braces of Rust.
_RUST_TOKEN = _pattern(
    rb"""//[^\n]* | /\*.*?(?:\*/|\Z)
    | r(\#*)".*?(?:"\1|\Z) | "(?:[^"\\]|\\.)*"?                                                 # 1: of a raw string
    | '(?:[^'\\\n\x80-\xff]|[\x80-\xff]{2,4}|\\(?:u\{\w{0,8}\}|[^\n]\w{0,2}))'
    | ^[ \t]*(?:\w{1,60}::){0,4}(\w{1,60})![ \t]*\{                                             # 2: a macro's name
    | \bstruct[ \t]+\w{1,80}[ \t]*(:)[^;{}()]{0,200}\{ | [{}]                                   # 3: before a type""",
    re.MULTILINE | re.DOTALL,
)
_ITEM = _pattern(
    rb"""%(SPACE)b(?:\#!?\[|(?:pub|fn|struct|enum|impl|trait|mod|const|static|use|type|unsafe|async|extern)\b
    |\w{1,60}!\s{0,10}\{)           # a macro""",
    re.DOTALL,
)
_BRANCH = _pattern(rb"%(SPACE)b(?:else\s{0,40}\{|(?:else\s{1,40})?%(CFG)b)", re.DOTALL)
_TEMPLATES = re.compile(rb"quote|macro_rules|matches|format_args")
_FLAG = re.compile(rb"\bconst\s+(\w+)\s*=[^;{}]*;")


def mask(source: bytes, rules: str) -> bytes:
    """Return what the grammar parses first: the file without macros that it takes for something else."""
    if rules == "rust":
        return _with_items(source)
    source = b"\n" + source
    text = bytearray(source)
    for pattern in _FIRST.get(rules, ()):
        _blank_groups(pattern, source, text)
    _replace_groups(_FIRST_REPLACED.get(rules, ()), source, text)
    if rules == "c":
        _blank_attributes(source, text)
        _name_macros(source, text)
    return bytes(text[1:])


def _blank_attributes(source: bytes, text: bytearray) -> None:
    """Blank attribute macros with numbers before a function's name, and those behind a name or a brace."""
    for match in _NUMBERED.finditer(source):
        line_start = source.rfind(b"\n", 0, match.start()) + 1
        if words := _WORDS.fullmatch(source, line_start, match.start()):
            _blank(text, words.start(1), match.end())
    for match in _UNUSED.finditer(source):
        if _PARAMETER.search(source, max(0, match.start() - _MAX_PARAMETER), match.start()):
            _blank(text, *match.span())
    for match in _HEAD.finditer(bytes(text)):
        _blank_head(match, text)
    for match in _TRAILING.finditer(source):
        line_start = source.rfind(b"\n", 0, match.start()) + 1
        before = re.split(rb"[;{]", source[line_start : match.start()])[-1].rstrip()
        if before.endswith(b"}"):
            is_attribute = source[match.end() : match.end() + 1] not in b";=" or _OF_TYPES.match(match[0])
        else:
            is_attribute = before.endswith((b"]", b")")) or _DECLARED.fullmatch(before)
        if is_attribute:
            _blank(text, *match.span())


def _blank_head(match: re.Match[bytes], text: bytearray) -> None:
    """Blank the words before a name that are no type: all unknown ones if one is built in, else those with `__`."""
    words = [word for word in _HEAD_WORD.finditer(match[1]) if not _KNOWN_WORD.match(word[0])]
    is_function = match[3] == b"(" and not match[2].isupper()
    if b"typedef" in match[1][:7] if is_function else match[2].startswith(b"__"):
        return
    types = [word for word in words if _BUILT_IN_WORD.match(word[0])]
    has_type = bool(types) or b" struct " in b" " + match[1]
    unknown = [word for word in words if word not in types]
    macros = [word for word in unknown if word[0].startswith(b"__") or (has_type and is_function)]
    for word in macros if has_type or len(macros) < len(words) else macros[:-1]:
        _blank(text, match.start(1) + word.start(), match.start(1) + word.end())


def _name_macros(source: bytes, text: bytearray) -> None:
    """Make enums of Apple's macros, and names of the arguments of macros that define a function."""
    for match in _NS_ENUM.finditer(source):
        text[match.start(1) : match.start(1) + 4] = b"enum"
    for pattern, replaced in ((_TITLED, _ANY), (_DEFINING, _NO_WORD)):
        for match in pattern.finditer(source):
            name = match[2] if b"TEST" in match[0] else match[2].partition(b",")[0]
            _blank(text, match.start(1), match.end(3))
            text[match.start(2) : match.start(2) + len(name)] = replaced.sub(b"_", name)


def repair(text: bytes, rules: str) -> bytes:
    """Return what the grammar parses if there are errors in its tree of `text`."""
    text = b"\n" + text
    repaired = bytearray(text)
    for pattern in _BLANKED.get(rules, ()):
        _blank_groups(pattern, text, repaired)
    _replace_groups(_REPLACED.get(rules, ()), text, repaired)
    if rules in ("c", "csharp", "swift") and _CONDITIONAL.search(text):
        _choose_branches(bytes(repaired), repaired)
    if rules == "csharp":
        _open_extensions(text, repaired)
    return bytes(repaired[1:])


class _Brace(NamedTuple):
    """An open brace of Rust."""

    # What is blanked: from a macro's name, or the `if` of `cfg_if!`, to the brace.
    head: tuple[int, int] | None
    body: int = 0  # where the constants of a struct of `bitflags!` begin, which become fields
    is_branch: bool = False  # of `cfg_if!`

    def close(self, source: bytes, text: bytearray, end: int) -> None:
        """Blank what the grammar does not understand when it closes at `end`."""
        if self.head:
            _blank(text, *self.head)
            _blank(text, end, end + 1)
        for flag in _FLAG.finditer(source, self.body, end) if self.body else ():
            _blank(text, *flag.span())
            text[flag.start(1) : flag.end(1) + 3] = flag[1] + b":u,"


class _Directive(NamedTuple):
    """An `#if`, `#elif`, `#else` or `#endif`."""

    span: tuple[int, int]
    holds: bool  # its branch is read if no macro is defined
    depth: tuple[int, int]  # braces and parentheses that are open before it


def _open_extensions(source: bytes, text: bytearray) -> None:
    """Blank the heads and braces of extension blocks."""
    heads = {match.end() - 1: match.span(1) for match in _EXTENSION.finditer(source)}
    opened: list[tuple[int, int] | None] = []
    for token in _C_TOKEN.finditer(source) if heads else ():
        if token[0] == b"{":
            opened.append(heads.get(token.start()))
        elif token[0] == b"}" and opened and (head := opened.pop()):
            _blank(text, *head)
            _blank(text, *token.span())


def _choose_branches(source: bytes, text: bytearray) -> None:
    """Blank all branches but one of each `#if` whose branches are no whole statements."""
    opened: list[list[_Directive]] = []  # The directives of each `#if` so far, outer ones first.
    braces = parens = 0
    for token in _C_TOKEN.finditer(source):
        word = token[2] or b""
        if step := _STEPS.get(token[0]):
            braces, parens = braces + step[0], parens + step[1]
            if token[0] == b"}" and braces <= 0:
                parens = 0  # None is open between definitions.
            continue
        if word.startswith(b"if"):
            opened.append([])
        elif not opened or word not in _NEXT_BRANCH:
            continue
        holds = word in (b"ifndef", b"else") or bool(_TRUE.match(token[3]))
        opened[-1].append(_Directive(token.span(), holds, (braces, parens)))
        braces, parens = opened[-1][0].depth
        if word == b"endif":
            braces, parens = _blank_branches(opened.pop(), text)


def _blank_branches(directives: list[_Directive], text: bytearray) -> tuple[int, int]:
    """Blank the directives and the branches that are not chosen; return what is open below the `#endif`."""
    before, *depths = (directive.depth for directive in directives)
    branches = [(above.span[1], below.span[0]) for above, below in pairwise(directives)]
    if set(depths) == {before} and before[1] <= 0 and not any(_HALF.match(text, *span) for span in branches):
        return before
    # Without a condition that holds, branches that leave the same open are alternatives. Else none is read.
    default = 0 if len(set(depths)) == 1 < len(depths) else len(branches)
    chosen = next((number for number, directive in enumerate(directives[:-1]) if directive.holds), default)
    dropped = branches[:chosen] + branches[chosen + 1 :]
    if any(end - start > _MAX_DROPPED for start, end in dropped):
        return before
    for span in (*(directive.span for directive in directives), *dropped):
        _blank(text, *span)
    return [*depths, before][chosen]


def _with_items(source: bytes) -> bytes:
    """Blank the names and braces of macros that hold items, and the branches of `cfg_if!` in them."""
    if b"! {" not in source and b"!{" not in source:
        return source
    text = bytearray(source)
    opened: list[_Brace] = []
    heads: dict[int, int] = {}  # end of the brace of a branch of `cfg_if!` -> where the branch begins
    for token in _RUST_TOKEN.finditer(source):
        start, end = token.span()
        branch = None
        if token[0] == b"}" and opened:
            brace = opened.pop()
            brace.close(source, text, start)
            branch = _BRANCH.match(source, end) if brace.is_branch else None
        elif token[0].endswith(b"{"):
            is_branch = end in heads
            head = (heads[end], end) if is_branch else None
            if token[2] and not _TEMPLATES.match(token[2]):
                branch = _BRANCH.match(source, end)
                head = (start, end) if branch or _ITEM.match(source, end) else None
            is_flags = token[3] is not None and opened and opened[-1].head is not None
            if is_flags:
                _blank(text, token.start(3), end - 1)
            opened.append(_Brace(head, end if is_flags else 0, is_branch))
        if branch:
            heads[branch.end()] = end
    return bytes(text)


def _blank_groups(pattern: re.Pattern[bytes], source: bytes, text: bytearray) -> None:
    for match in pattern.finditer(source):
        for group in range(1, pattern.groups + 1):
            _blank(text, *match.span(group))


def _replace_groups(pairs: Iterable[tuple[re.Pattern[bytes], bytes]], source: bytes, text: bytearray) -> None:
    for pattern, first in pairs:
        for match in pattern.finditer(source):
            start = match.start(match.lastindex or 0)
            text[start : start + len(first)] = first


def _blank(text: bytearray, start: int, end: int) -> None:
    text[start:end] = blanked(text[start:end])


def blanked(text: bytes | bytearray) -> bytes:
    """Return spaces in place of a text; its lines stay."""
    return _ANY.sub(b" ", text)
