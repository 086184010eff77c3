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

_MAX_DROPPED = 4_000
_MAX_PARAMETER = 100
_ANY, _NO_WORD = re.compile(rb"[^\n]"), re.compile(rb"\W")
_CONDITIONAL = re.compile(rb"^[ \t]*+#[ \t]*(?:if|else)", re.MULTILINE)
_MACRO = rb"[A-Z][A-Z0-9_]{2,60}(?:\([^()\n]{0,200}(?:\([^()\n]{0,200}\)[^()\n]{0,200}){0,4}\))?"
_NESTED_ARGUMENTS = rb"\([^()\n]{0,300}(?:\([^()\n]{0,100}\)[^()\n]{0,100}){0,6}\)"
"""Arguments on one line, with calls among them."""
_KEYWORD = (
    rb"(?:class|struct|union|enum|namespace|template|typedef|static|extern|inline|virtual|const|constexpr|explicit|"
    rb"using|void|bool|char|int|long|short|float|double|unsigned|signed|@interface|@protocol|@implementation)\b"
)
# The patterns of C begin with a line end, which `re` finds five times as fast as the begin of a line.
# `class EXPORT Name final : Base {`: the keyword; the macros. A bit-field ends in `;`.
_EXPORTED = re.compile(
    rb"\n[ \t]*+(?:typedef[ \t]+|template[ \t]*<[^\n]{0,200}>[ \t]*)?"
    rb"(?:class|struct|union|enum)\b[ \t]+(?:(?:class|struct)[ \t]+)?"
    rb"((?!final\b|class\b|struct\b)(?:(?:(?:\w{1,60}(?:\([^()\n]{0,100}\))?|\[\[[^\[\]\n]{1,100}\]\])"
    rb"[ \t]+(?!final\b)(?=[A-Za-z_\[])){1,3}))"
    rb"(?!(?:const|noexcept|override|volatile)\b)[\w:<>, ]{1,200}\s{0,40}(?:\{|:(?!:)[^;{}]{0,500}\{)"
)
# A macro before a declaration, or on a line above it, above other macros and comments, or at the end of a file.
_END = rb"|(?:#[ \t]*endif\b[^\n]{0,100}\s{0,9})?\Z"
_ABOVE = rb"\s{1,40}(?:(?://[^\n]{0,200}|[A-Z][A-Z0-9_]{2,60})\s{1,40}){0,4}"
_PREFIX = re.compile(rb"\n[ \t]*+(" + _MACRO + rb")(?=" + _ABOVE + rb"(?:" + _KEYWORD + _END + rb"))")
# `void NAME(load_table)(double *v) {` and `int (plus)(int a) {`: the macro; the parenthesis behind the name.
_WRAPPED = re.compile(
    rb"\n(?!(?:if|for|while|switch|return|else)\b)\w[\w*& \t]{0,80}?[ \t*&]((?:[A-Za-z_]\w{0,60})?\([ \t]*)\w{1,80}"
    rb"[ \t]*(\))\s{0,40}(?=\([^;{}]{0,500}\)\s{0,40}\{)",
)
# `TEST_CASE("title", "[tags]") {` and `BOOST_AUTO_TEST_CASE(name) {`: the title or name; the rest.
_TITLED = re.compile(
    rb"\n[ \t]*+[A-Z][A-Z0-9_]{2,60}(\()[ \t]*\"((?:[^\"\\\n]|\\.){1,200})\""
    rb"([^;{}()]{0,200}(?:\([^;{}()]{0,100}\)[^;{}()]{0,100}){0,6}\))(?=\s{0,40}\{)",
)
_DEFINING = re.compile(
    rb"\n[A-Z][A-Z0-9_]{2,60}(\()[ \t]*(\w{1,80}(?:,[ \t]?\w{1,80}(?=[ \t]*\)))?)((?:,[^;{}()\"]{0,300})?\))"
    rb"(?=\s{0,40}\{)",
)
# `__printf(1, 2)` before a function's name, and the words above and before it.
_NUMBERED = re.compile(
    rb"\([ \t]*\d{1,9}(?:[ \t]*,[ \t]*\d{1,9}){0,4}[ \t]*\)"
    rb"(?=\s{1,40}\**(?:[A-Za-z_]\w{0,80}[\s*]{1,20}){0,6}[A-Za-z_]\w{0,80}[ \t]*\()"
)
_WORDS = re.compile(
    rb"[ \t]*(?:[\w*][\w*,() \t]*[ \t*])?((?!_BitInt\b|_?[Aa]lignas\b)[A-Za-z_]\w{0,80})[ \t]?"
)
# `static __section("x") int f(`: the attribute at the begin of a function.
_LEADING = re.compile(
    rb"\n(?:(?:static|extern|inline|__\w{1,40}|[A-Z][A-Z0-9_]{2,40})[ \t]+){0,5}"
    rb"(__(?!attribute__|declspec|typeof|asm|extension)[a-z]\w{1,60}[ \t]?" + _NESTED_ARGUMENTS + rb")"
    rb"(?=\s{1,9}(?:[A-Za-z_]\w{0,80}[\s*]{1,20}){1,5}\w{1,80}[ \t]*\()"
)
# `typedef void (APIENTRYP F)(int)`, where the macro has the star.
_POINTER = re.compile(rb"\([ \t]*([A-Z_][A-Z0-9_]{2,60})[ \t]+(?=\w{1,80}\)[ \t]?\()")
# A loop over the members of something: `list_for_each_entry(a, b, c) {`.
_EACH = re.compile(rb"\n[ \t]++((?:\w{1,60}_)?(?:for_?each|FOR_?EACH|do_each|Q_FOREACH)\w{0,60})(?=[ \t]?\()")
_WHILE_EACH = re.compile(rb"\}[ \t]?(while_\w{1,60})(?=\()")
# The words before the name of a function or a variable at the begin of a line, its name, and what follows.
_HEAD = re.compile(
    rb"\n((?:[A-Za-z_]\w{0,60}(?:[\s*]{1,9}|[ \t*]{10,99}\n?)){2,9})"
    rb"((?!_{2,4}(?:acq|align|alloc|attr|cache|must|packed|printf|rel|scanf|section))[A-Za-z_]\w{0,80})"
    rb"[ \t]{0,9}([(;=\[])"
)
_HEAD_WORD = re.compile(rb"(?:(?:struct|union|enum|class|typename)\s+)?\w+")
_KNOWN_WORD = re.compile(
    rb"(?:struct|union|enum|class|typename)\s|(?:static|extern|const|volatile|inline|register|typedef|auto|constexpr|"
    rb"consteval|explicit|friend|mutable|virtual|template|else|return|new|delete|goto|case|throw|namespace|using|"
    rb"operator|define|thread_local|_Thread_local|_Noreturn|restrict)\Z"
)
# Attributes behind the name of a member or a variable, or behind the brace of its type, and what may stand before.
_TRAILING = re.compile(
    rb"__\w{1,60}(?:[ \t]?"
    + _NESTED_ARGUMENTS
    + rb")?(?:[ \t]+__\w{1,60}(?:[ \t]?"
    + _NESTED_ARGUMENTS
    + rb")?)*+"
    rb"[ \t]*(?=[;=]|\w{1,80}[ \t]*;)"
)
_OF_TYPES = re.compile(
    rb"_{2,4}(?:\w{1,60}\(|aligned|attribute|cacheline|designated|may_alias|no_rand|packed|rand)"
)
_BUILT_IN = rb"(?:unsigned|signed|long|short|int|char|float|double|void|bool|_Bool)\b"
_BUILT_IN_WORD = re.compile(_BUILT_IN)
_NO_TYPE = (
    rb"(?:static|extern|const|volatile|register|typedef|return|goto|else|case|struct|union|enum|__\w+)\b"
)
_DECLARED = re.compile(
    rb"\s*(?:(?:static|extern|const|volatile|register)\s+)*+(?:(?:struct|union|enum)\s+\w+"
    rb"|" + _BUILT_IN + rb"(?:\s+" + _BUILT_IN + rb")*+|(?:__\w{0,6}\d\d|(?!" + _NO_TYPE + rb")\w+)\b)"
    rb"(?:[\s*]+(?:const|volatile|__\w+)\b)*[\s*]+(?!" + _BUILT_IN + rb"|__)\w+(?:\s*:\s*\w+)?\s*"
)
_STORAGE = rb"(?:const|extern|inline|static|virtual)"
# `JNIEXPORT jint JNICALL name(`: the macros before the type; those between the type and the name.
_SPECIFIER = re.compile(
    rb"\n[ \t]*+(?:(?:static|extern|inline|virtual)[ \t]+){0,3}((?:" + _MACRO + rb"[ \t]+){1,3})"
    rb"(?=(?:[A-Za-z_][\w:<>,]{0,80}[\s*&]{1,20}){1,4}(?:[\w:~]{1,80}|operator[^\w\s(]{1,3})[ \t]*\()",
)
_CONVENTION = re.compile(
    rb"\n[ \t]*+(?:" + _STORAGE + rb"[ \t]+){0,4}(?!" + _STORAGE + rb"\b)"
    rb"[A-Za-z_][\w:<>, \t]{0,80}[\s*&]((?:" + _MACRO + rb"[ \t]+){1,2})(?=\w{1,80}[ \t]*\()",
)
# `void f(int n UNUSED)`: the macro behind a parameter.
_UNUSED = re.compile(rb"[ \t](?:[A-Z][A-Z0-9_]{2,60}|__(?:maybe_)?unused)(?=\s{0,40}[,)])")
_PARAMETER = re.compile(rb"[\w*][ \t*]+\w{1,80}[ \t]*\Z")
# `API_AVAILABLE(ios(10), macos(10.12))` behind a declaration.
_AVAILABLE = re.compile(
    rb"\b([A-Z_]{0,40}(?:AVAILABLE|DEPRECATED)[A-Z_]{0,40}" + _NESTED_ARGUMENTS + rb")(?=\s{0,40}[;{=,])"
)
# Only if there are errors: a macro alone on a line, one below or behind the parameters, and what Qt adds to classes;
# one before a constructor or an operator, or behind another specifier; types as arguments.
_ALONE = re.compile(
    rb"\n[ \t]*+((?:static[ \t]+)?[A-Z][A-Z0-9_]{2,60}"
    rb"(?:[ \t]*(?:" + _NESTED_ARGUMENTS + rb"|\(\"(?:[^\"\\\n]|\\.){0,300}\"\))|(?![ \t]*\s{1,40}\})))"
    rb"[ \t\r]*$(?!\s{0,40}(?:[{:,;)?&|+*.=<>-]|/(?![/*])))",
    re.MULTILINE,
)
_BEHIND = re.compile(rb"\)[ \t]*(?:const\b|override\b|noexcept\b)?\s{0,40}(" + _MACRO + rb")(?=\s{0,40}[;{])")
_SECTION = re.compile(
    rb"\n[ \t]*+(?:(?:public|protected|private)[ \t]+(\w{1,40})[ \t]*:|((?:Q_SIGNALS|signals)[ \t]*:))",
)
_INNER = re.compile(
    rb"(?:[\n;{}>]|\b(?:constexpr|explicit|friend|inline|static|virtual)\b)[ \t]*("
    + _MACRO
    + rb")(?=\s{1,40}"
    rb"(?:" + _KEYWORD + rb"|(?:auto|friend|operator)\b|~?\w{1,60}\([^;{}]{0,300}\)[\w\s]{0,40}:(?!:)|~))"
)
_TYPE_ARGUMENT = re.compile(
    rb"(,\s{0,40}(?:(?:\w{1,60}[ \t]+){0,3}\w{1,60}[ \t]*\*{1,3}"
    rb"|(?:(?:const|struct|union|enum|unsigned|long)[ \t]+){1,3}\w{1,80}))(?=\s{0,9}[,)])"
)
# Instantiations, `export` and imports of C++; the type of an enum of C, or the width of an integer; enums of Apple:
# `typedef NS_ENUM(NSInteger, Name) {`.
_MODULE = re.compile(
    rb"\n[ \t]*+(?:(extern[ \t]+template\b[^;{}]{1,300};)|(export)(?=\s{1,40}(?!import\b|module\b)[\w:\[{])"
    rb"|((?:export[ \t]+)?(?:import|module)\b[ \t]*(?:[\w.:]{1,80}|<[^<>\n]{1,80}>|\"[^\"\n]{1,80}\")?[ \t]*;))"
)
_ENUM_TYPE = re.compile(
    rb"\benum\b(?:[ \t]+\w{1,80})?[ \t]*(:[ \t]*\w[\w ]{0,40})(?=\s{0,40}\{)|\b_BitInt[ \t]*(\([^()\n]{1,80}\))"
)
_NS_ENUM = re.compile(
    rb"\n[ \t]*+((?:typedef[ \t]+)?(?:NS|CF)_(?:CLOSED_|ERROR_)?(?:ENUM|OPTIONS)[ \t]*\([^(),;{}]{1,80},)"
    rb"[ \t]*\w{1,80}[ \t]*(\))(?=\s{0,40}\{)"
)

# Comments, strings, directives and brackets of C, C#, Objective-C and Swift: the directive; its condition.
_C_TOKEN = re.compile(
    rb"""//[^\n]* | /\*.*?(?:\*/|\Z) | R"([^()\\\s]{0,16})\(.*?(?:\)\1"|\Z) | "(?:[^"\\\n]|\\.)*"?
    | '(?:[^'\\\n]|\\.){0,8}'? | ^[ \t]*\#[ \t]*(\w*)((?:[^\n\\]|\\.)*) | [(){}]""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
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
_EXTENSION = re.compile(
    rb"\n[ \t]*+(extension[ \t]*(?:<[^<>(){}\n]{0,200}>)?[ \t]*\([^(){}\n]{0,200}\)[^;{}]{0,200}\{)"
)

# Names that are keywords in some places only, where they are names; the condition of a branch of `when`; parameters
# that a function or its type takes from its context; annotations of a constructor on a separate line; words of newer
# versions; the ends of bodies on one line; the marks of a string.
_SOFT = (
    rb"(?:abstract|actual|annotation|companion|const|crossinline|data|enum|expect|external|final|infix|inline|inner|"
    rb"internal|lateinit|noinline|open|operator|out|override|private|protected|public|reified|sealed|suspend|tailrec|"
    rb"value|vararg)\b"
)
_SOFT_KEYWORD = re.compile(
    rb"\b" + _SOFT + rb"(?=\(|[ \t]*(?:[=:,.)\]{?;+*/<>-]))|(?<=\.)" + _SOFT,
)
# The arguments of an annotation, and words between it and a declaration: the grammar may take them for an expression.
_ANNOTATED = re.compile(
    rb"@[\w.:]{1,80}" + ARGUMENTS + rb"\s{1,80}((?:(?!companion\b|enum\b)" + _SOFT + rb"\s{1,80}){0,6})"
    rb"(?=@|(?:class|companion|enum|fun|interface|object|typealias|val|var)\b)"
)
_GUARD = re.compile(rb"^[ \t]*+(?!if\b)[^\n{}=>]{1,200}?\b(if\b[^\n{}]{1,200}?)(?=->)", re.MULTILINE)
_CONTEXT = re.compile(
    rb"\b(context" + _NESTED_ARGUMENTS + rb")"
    rb"(?=\s{1,80}(?:@?[\w.]{1,40}(?:\([^()\n]{0,100}\))?\s{1,40}){0,6}(?:fun|val|var|class|interface|object)\b"
    rb"|[ \t]*(?:[\w.<>?]{1,80}\.)?\([^()\n]{0,200}\)[ \t]*->)"
)
_CONSTRUCTOR = re.compile(
    rb"\bclass[ \t]+\w{1,80}[ \t]*(?:<[^<>(){}\n]{0,200}>)?\s*\n[ \t]*((?:@[\w.]{1,60}[ \t]+){1,4})"
    rb"(?=(?:\w{1,20}[ \t]+)?constructor\b)"
)
_NEWER = re.compile(rb"\b(actual)(?=[ \t]+(?:constructor|val|var)\b)|(?<=@)(all:)(?=\w)")
_ONE_LINE_BODY = re.compile(
    rb"[\w)\]\"'?!]([ \t])\}|(?<=\})([ \t])"
    rb"(?=(?:class|companion|constructor|fun|init|object|override|private|val|var)\b)"
)
# A call of `get` or `set` below a property, which the grammar takes for its accessor.
_NO_ACCESSOR = re.compile(
    rb"^[ \t]*+([gs]et)(?=[ \t]*\((?:[ \t]*[\"\d]|[^()\n]{0,200}\)[ \t]*[\w.]))", re.MULTILINE
)
_DOLLARS = re.compile(rb"(?<![\w$])(\${2,8})(?=\")")
# `m?.total = 3` and `operator +=` of C#: the question mark; the sign.
_CONDITIONAL_TARGET = re.compile(rb"(\?)[.\[][\w.?!\[\]\"' ]{1,100}[-+*/%&|^?]{0,2}=(?![=>])")
_COMPOUND = re.compile(rb"\boperator[ \t]+(?:checked[ \t]+)?([-+*/%&|^]=)")
_COMPOUND_SHIFT = re.compile(rb"\boperator[ \t]+(?:checked[ \t]+)?(<<=|>>=)")
# Directives of Haskell between two branches: the grammar skips the second one.
_OTHER_BRANCH = re.compile(rb"^(\#[ \t]*(?:else|elif)\b[^\n]*)", re.MULTILINE)
# A function of types of Luau.
_TYPE_FUNCTION = re.compile(rb"^[ \t]*+((?:export[ \t]+)?type[ \t]+)(?=function\b)", re.MULTILINE)
# Keywords as symbols of Julia; a function of another module without methods.
_SYMBOL = re.compile(
    rb"(?<![\w:)\]}\"'!])(:(?:abstract|baremodule|begin|break|catch|const|continue|do|elseif|else|end|export|finally|for|"
    rb"function|global|if|import|let|local|macro|module|mutable|primitive|quote|return|struct|try|using|where|while)\b)"
)
_NO_METHODS = re.compile(rb"^[ \t]*+function[ \t]+((?:\w{1,60}\.){1,5})\w{1,60}[ \t]+end\b", re.MULTILINE)
# Fields of a struct of Julia that do not change.
_CONST_FIELD = re.compile(rb"^[ \t]+(const)[ \t]+\w{1,80}[ \t\r]*(?:::[^\n=]{1,200})?$", re.MULTILINE)
# An empty block as a value in PowerShell.
_EMPTY_BLOCK = re.compile(rb"[=(,\"'][ \t]*(\{\s{0,40}\})")
# The path behind a variable, as in `$PSScriptRoot/a.psm1`.
_PATH_BEHIND = re.compile(rb"\$\w{1,60}((?:[\\/][\w.*-]{1,100}){1,20})(?=\s)")
_FIRST = {
    "c": (
        _MODULE,
        _ENUM_TYPE,
        _NS_ENUM,
        _EXPORTED,
        _PREFIX,
        _LEADING,
        _SPECIFIER,
        _CONVENTION,
        _WRAPPED,
        _EACH,
        _WHILE_EACH,
        _POINTER,
    ),
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
    "powershell": (_EMPTY_BLOCK, _PATH_BEHIND),
}
"""What is blanked in a file with errors."""
_REPLACED = {
    "bash": ((_EXPANSION, b"$x"),),
    "kotlin": ((_SOFT_KEYWORD, b"_"), (_ONE_LINE_BODY, b";"), (_NO_ACCESSOR, b"_")),
    "powershell": ((_EMPTY_BLOCK, b"0"),),
}
"""What such a pattern, or its last group, begins with instead."""

# Comments, strings and braces of Rust: the mark of a raw string; a macro's name; the colon of a struct with a type.
_RUST_TOKEN = re.compile(
    rb"""//[^\n]* | /\*.*?(?:\*/|\Z) | r(\#*)".*?(?:"\1|\Z) | "(?:[^"\\]|\\.)*"?
    | '(?:[^'\\\n\x80-\xff]|[\x80-\xff]{2,4}|\\(?:u\{\w{0,8}\}|[^\n]\w{0,2}))'
    | ^[ \t]*(?:\w{1,60}::){0,4}(\w{1,60})![ \t]*\{ | \bstruct[ \t]+\w{1,80}[ \t]*(:)[^;{}()]{0,200}\{ | [{}]""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_SPACE_AND_COMMENTS = rb"(?>\s+|//[^\n]*|/\*.*?(?:\*/|\Z))*+"
_CFG = rb"if[ \t]+\#\[[^\]\n]{0,300}(?:\][^\]\n{]{1,100})?\]\s{0,40}\{"
_ITEM = re.compile(
    _SPACE_AND_COMMENTS
    + rb"(?:\#!?\[|(?:pub|fn|struct|enum|impl|trait|mod|const|static|use|type|unsafe|async|extern)\b"
    rb"|\w{1,60}!\s{0,10}\{)",
    re.DOTALL,
)
_BRANCH = re.compile(_SPACE_AND_COMMENTS + rb"(?:else\s{0,40}\{|(?:else\s{1,40})?" + _CFG + rb")", re.DOTALL)
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
    macros = [
        word
        for word in words
        if word not in types and (word[0].startswith(b"__") or (has_type and is_function))
    ]
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
    around: list[list[_Directive]] = []
    braces = parens = 0
    for token in _C_TOKEN.finditer(source):
        word = token[2] or b""
        if token[0] in _STEPS:
            step = _STEPS[token[0]]
            braces, parens = braces + step[0], parens + step[1]
            if token[0] == b"}" and braces <= 0:
                parens = 0  # None is open between definitions.
            continue
        if word.startswith(b"if"):
            around.append([])
        elif not around or word not in _NEXT_BRANCH:
            continue
        holds = word in (b"ifndef", b"else") or bool(_TRUE.match(token[3]))
        around[-1].append(_Directive(token.span(), holds, (braces, parens)))
        braces, parens = around[-1][0].depth
        if word == b"endif":
            braces, parens = _blank_branches(around.pop(), text)


def _blank_branches(directives: list[_Directive], text: bytearray) -> tuple[int, int]:
    """Blank the directives and the branches that are not chosen; return what is open below the `#endif`."""
    before, *depths = (one.depth for one in directives)
    branches = [(above.span[1], below.span[0]) for above, below in pairwise(directives)]
    if set(depths) == {before} and before[1] <= 0 and not any(_HALF.match(text, *span) for span in branches):
        return before
    # Without a condition that holds, branches that leave the same open are alternatives. Else none is read.
    default = 0 if len(set(depths)) == 1 < len(depths) else len(branches)
    chosen = next((number for number, one in enumerate(directives[:-1]) if one.holds), default)
    dropped = branches[:chosen] + branches[chosen + 1 :]
    if any(end - start > _MAX_DROPPED for start, end in dropped):
        return before
    for span in (*(one.span for one in directives), *dropped):
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
