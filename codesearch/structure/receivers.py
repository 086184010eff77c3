"""What stands before a name -> the type that its file, or the signature of a definition, declares for it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Protocol

from codesearch.languages import record_of
from codesearch.store.source import Ref
from codesearch.structure.imports import lines_with
from codesearch.types import FIELD, HEADER_KINDS, TYPE_KINDS

_JOINED = re.compile(r"\s*(?:\?\.|&\.|!!?\.|\.|->|::)\s*\Z")
_MOST_BEFORE, _MOST_TYPES, _DEEPEST = 400, 4, 3
_MOST_LITERAL = 4_000
_BRACKET, _IN_LIST = re.compile(r"[\[\](){}]"), re.compile(r"[\[{,(]\s*\Z")
_MOST_ANCESTORS, _MOST_REFS = 40, 50
# `Cooler = Fan`, `Cooler: TypeAlias = Fan`, `const Cooler = parts.Fan;`.
_ALIAS = re.compile(
    r"(?:(?:export|const|let|var)\s+)*\w+(?:\s*:\s*\w*\.?TypeAlias)?\s*=\s*(?:\w+\.)*[A-Z]\w*;?"
)
_SUPER = ("super", "base", "parent")
_TYPE = r"[\"']?(?:[\w$]+(?:\.|::|\\))*(?P<type>[A-Za-z_]\w*)"
_WRAPPED = (
    r"(?:(?:Optional|Option|Promise|Awaitable|Final|ClassVar|[Tt]ype|Box|Rc|Arc|Readonly|Partial)[\[<]\s*)*"
)
_NO_TYPES = frozenset(
    "return new else var let const auto throw case in of await yield import from typeof delete not and or is if elif "
    "while for public private protected internal static final readonly virtual override abstract async func "
    "function def None null undefined true false True False self this any Any object unknown int string str bool float "
    "double void instanceof interface echo print goto do val mut ref out struct enum union class export "
    "default extends namespace package using typedef".split()
)
# `name: Type`; `name = Type(` with `new`, `&` or `Type::`; `Type as name`.
_FORMS = (
    rf"(?<![\w$]){{0}}\s*[?!]?\s*:\s*(?:readonly\s+|&\s*|mut\s+|\*)*{_WRAPPED}{_TYPE}(?=\W|$)",
    rf"(?<![\w$]){{0}}\s*(?::[^=\n]*)?:?=\s*(?:await\s+|yield\s+)?(?P<new>new\s+|&)?{_TYPE}(?:<[^<>\n]*>)?(?P<call>\(|\{{{{|::)",
    rf"\b{_TYPE}(?:\([^()\n]*\))?\s+as\s+{{0}}\b",
)
# `Type name`, which these languages write before a name, perhaps in a pointer; Go writes the type behind it.
_POINTER = r"(?:(?:\w+::)*(?:\w*_ptr|\w*Ptr|\w*Pointer)<\s*(?:const\s+)?)?"
_BEFORE = rf"(?<![\w$.]){_POINTER}{_TYPE}(?:<[^;(){{{{}}}}\n]*>|\[\])?\??>?[\s*&]+\$?{{0}}\s*(?=[;=,):{{{{[]|\bin\b|$)"
_BEHIND = r"(?<![\w.]){0}(?:,\s*\w+)*\s+\*?(?:\w+\.)?(?P<type>[A-Za-z_]\w*)(?=[,)\s{{;]|$)"
_ARGUMENTS = re.compile(r"<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>")
_CHAINED = re.compile(r"[^()\n]*\)\s*(?:\?\.|\.|->)")
_RESULT = re.compile(rf"(?:->|\)\s*:)\s*{_WRAPPED}{_TYPE}|\)\s*\(?\*?(?:\w+\.)?(?P<go>[A-Z]\w*)(?:,|\)|$)")
_RESULT_BEFORE = re.compile(
    rf"(?:@\w+\s+|[a-z]\w*\s+|\w+::)*{_POINTER}{_WRAPPED}(?P<type>[A-Z]\w*)(?:<[^()]*>)?>?[\s*&]+(?:\w+::)*\w+\s*\("
)


class SourceFile(Protocol):
    """A file that is looked through."""

    source: str
    path: str
    language: str

    def original(self, name: str) -> str: ...  # noqa: D102 - the name of what an import calls `name`.
    def type_around(self, line: int) -> str: ...  # noqa: D102 - the name of the innermost type around a line, or "".
    def function_text(self, line: int, end: int) -> str: ...  # noqa: D102 - of the function around a line, up to `end`.


def receiver_before(source: str, position: int) -> tuple[str, bool, int] | None:
    """Return the word before a joined name, whether it is called or made, and its position; None for other expressions.

    >>> receiver_before("a.jar.push", 6), receiver_before("new Jar(1).push", 11), receiver_before("(a).push", 4)
    (('jar', False, 2), ('Jar', True, 4), None)
    """
    begin = max(position - _MOST_BEFORE, 0)
    if not (joined := _JOINED.search(source, begin, position)):
        return None
    end, is_called = joined.start(), False
    if source[end - 1 : end] == ")":
        depth, is_called = 0, True
        while end > begin:
            end -= 1
            depth += (source[end] == ")") - (source[end] == "(")
            if not depth:
                break
    word = re.search(r"[\w$]+\Z", source[begin:end])
    return (word.group().lstrip("$"), is_called, begin + word.start()) if word else None


def literal_type(source: str, position: int, language: str) -> str:
    """Return the type of the literal around a key, also of one in a list; "" if that is not written before it.

    The record of the language must have a pattern for that, `literal`.

    >>> literal_type("p := &Point{x: 1, y: 2}", 18, "go"), literal_type("const a: B[] = [{c: 1}]", 17, "typescript")
    ('Point', 'B')
    """
    begin, depth, pattern = max(position - _MOST_LITERAL, 0), 0, record_of(language).literal
    for bracket in reversed([*_BRACKET.finditer(source, begin, position)]):
        depth += 1 if bracket[0] in ")]}" else -1
        if depth < 0:
            head = source[max(begin, bracket.start() - _MOST_BEFORE) : bracket.start()]
            if declared := re.search(pattern, head):
                return declared["type"]
            if not _IN_LIST.search(head):
                break
            depth = 0
    return ""


@cache
def _patterns(name: str, language: str) -> tuple[re.Pattern[str], ...]:
    record = record_of(language)
    before = record.family in ("c", "java") or language in ("csharp", "php", "dart", "groovy")
    forms = [*_FORMS, *([_BEFORE] if before else ()), *([_BEHIND] if language == "go" else ())]
    escaped = re.escape(name)
    return tuple(re.compile(form.format(escaped)) for form in forms)


@lru_cache(maxsize=1000)
def declared_types(text: str, name: str, language: str) -> list[tuple[int, str, bool]]:
    """Return where a text declares the type of a name, the type, and whether it is what a function returns.

    >>> declared_types("self.jar = Jar()", "jar", "python"), declared_types("h := NewHeap(1)", "h", "go")
    ([(5, 'Jar', False)], [(0, 'Heap', False)])
    """
    found, written = list[tuple[int, str, bool]](), list[tuple[int, int]]()
    # Searching in the code of lines with the name is much faster; a comment says "an entity's bytes".
    mark = record_of(language).comments.line
    lines = (text[start:end] for start, end in lines_with(text, name))
    text = "\n".join(re.split(mark, line, maxsplit=1)[0] for line in lines)
    for pattern in _patterns(name, language):
        for match in pattern.finditer(text):
            type_name, parts = match["type"], match.groupdict()
            if parts.get("call") == "(" and _CHAINED.match(text, match.end()):
                continue
            is_made = (
                bool(parts.get("new"))
                or not parts.get("call")
                or type_name[:1].isupper()
                or parts["call"] == "::"
            )
            if (
                language == "go"
                and parts.get("call")
                and (made := re.fullmatch("[Nn]ew([A-Z]\\w*)", type_name))
            ):
                type_name, is_made = made[1], True
            if type_name not in _NO_TYPES:
                found.append((match.start(), type_name, not is_made))
                written += [match.span()] * is_made
    # In `Jar jar = make()`, the type is written, so what the call returns does not matter.
    return sorted(of for of in found if not (of[2] and any(start <= of[0] < end for start, end in written)))


def result_of(signature: str) -> str:
    """Return the type that a signature says its function returns, or that a parameter of types extends, or "".

    >>> result_of("def make(x) -> Jar"), result_of("func Make(x int) (*Jar, error)"), result_of("def make(x)")
    ('Jar', 'Jar', '')
    >>> result_of("virtual const Jar &jar(int x) const"), result_of("public Optional<Jar> find(int x)")
    ('Jar', 'Jar')
    >>> result_of("find<T extends Jar>(name: string): T | undefined")
    'Jar'
    """
    *_, last = [_RESULT_BEFORE.match(signature), *_RESULT.finditer(signature)]
    found = last["type"] or last["go"] if last else ""
    bound = found and re.search(rf"[<,]\s*{found}\s+extends\s+{_TYPE}", signature)
    return bound["type"] if bound else found


def _is_type(ref: Ref) -> bool:
    return ref.row.kind in TYPE_KINDS or _ALIAS.fullmatch(ref.row.signature) is not None


class Types:
    """The types of some indexes; `named` returns the definitions of a name."""

    def __init__(self, named: Callable[[str], Sequence[Ref]]) -> None:
        self.named = cache(named)
        self._ancestors: dict[str, frozenset[str]] = {}

    def bases(self, name: str) -> set[str]:
        """Return the words in the headers of the types of a name, behind it: its bases are among them.

        Of another name for a type, type arguments count too, as in `using JarPointer = Pointer<Jar>`.
        """
        rows = [(ref.row.signature, ref.row.kind) for ref in self.named(name)]
        heads = [text.partition("{")[0] for text, _ in rows if text.startswith("typedef")]
        heads += [text.partition(name)[2] for text, kind in rows if kind == "type" or _ALIAS.fullmatch(text)]
        heads += [_ARGUMENTS.sub("", text.partition(name)[2]) for text, kind in rows if kind in HEADER_KINDS]
        words = {word for head in heads for word in re.findall(r"\w+", head)}
        return {word for word in words if word[:1].isupper() or len(word) > 2} - _NO_TYPES - {name}

    def ancestors(self, name: str) -> frozenset[str]:
        """Return a type and the types that it derives from."""
        if name not in self._ancestors:
            found, rest = {name}, [name]
            while rest and len(found) < _MOST_ANCESTORS:
                new = self.bases(rest.pop()) - found
                found |= new
                rest += new
            self._ancestors[name] = frozenset(found)
        return self._ancestors[name]

    def members_of(self, name: str, refs: Sequence[Ref], path: str) -> list[Ref]:
        """Return the members that a value of a type can have: its own, else those of its bases, and overriding ones.

        Of several types with this name, the one in the folder of `path` is meant.
        """
        own = [ref for ref in refs if ref.owner == name]
        if len(own) > 1:
            folder = posixpath.dirname(path)
            own = [ref for ref in own if posixpath.dirname(ref.path) == folder] or own
        above = own or [
            ref for ref in refs if ref.owner in self.ancestors(name) or self._embeds(name, ref.owner)
        ]
        below = [ref for ref in refs if ref.owner != name in self.ancestors(ref.owner)]
        return list(dict.fromkeys([*above, *below]))

    def _embeds(self, name: str, other: str) -> bool:
        """Say whether a structure of Go has another one as a field without a name."""
        return any(
            ref.owner == name and re.sub(r"^\*?(\w+\.)?", "", ref.row.signature) == other
            for ref in self.named(other)
            if ref.row.kind == FIELD
        )

    def before(self, file: SourceFile, position: int, line: int, depth: int = 0) -> list[str]:
        """Return the types that what stands before a name at a position can have; [] if that is not known."""
        receiver = receiver_before(file.source, position)
        if receiver is None or depth > _DEEPEST:
            return []
        word, is_called, at = receiver
        enclosing = file.type_around(line)
        if is_called and word not in _SUPER:
            owners, refs = self.before(file, at, line, depth + 1), self.named(word)
            word = word if refs else file.original(word)
            return self._of_call(word, [ref for of in owners for ref in self.members_of(of, refs, file.path)])
        if word in record_of(file.language).self_words:
            return [enclosing] if enclosing else []
        if word in _SUPER:
            return sorted(self.bases(enclosing))
        inner = receiver_before(file.source, at)
        if inner and not (inner[0] in record_of(file.language).self_words and not inner[1]):
            owners = self.before(file, at, line, depth + 1)
            return self._of_fields(word, owners)
        above = "" if inner else file.function_text(line, at)
        if word in above and enclosing and re.search(rf"\b{re.escape(word)}\s*=\s*this\s*[;,\n]", above):
            return [enclosing]  # `const self = this;`
        found = [] if inner else declared_types(above, word, file.language)[-1:]
        if not found and (inner or not record_of(file.language).needs_self):
            if types := self._of_fields(word, [enclosing]):
                return types
        found = found or declared_types(file.source, word, file.language)
        made = [(of if self.named(of) else file.original(of), is_result) for _, of, is_result in found]
        names = dict.fromkeys(
            name for of, is_result in made for name in (self._of_call(of) if is_result else [of])
        )
        if not names and any(map(_is_type, self.named(type_name := file.original(word)))):
            return [type_name]
        return list(names) if len(names) <= _MOST_TYPES else []

    def _of_call(self, word: str, refs: Sequence[Ref] = ()) -> list[str]:
        """Return the type that a call makes or returns, of some definitions if they are known."""
        refs = refs or self.named(word)
        if not refs or any(map(_is_type, refs)):
            return [word] if word[:1].isupper() else []
        return list(dict.fromkeys(filter(None, (result_of(ref.row.signature) for ref in refs[:_MOST_REFS]))))

    def _of_fields(self, word: str, owners: Sequence[str]) -> list[str]:
        """Return the declared types of the fields with a name in some types."""
        found: dict[str, None] = {}
        for owner in owners:
            for ref in self.named(word)[:_MOST_REFS]:
                if ref.row.kind == FIELD and ref.owner in self.ancestors(owner):
                    found |= {
                        of: None for _, of, _ in declared_types(ref.row.signature, word, ref.file.language)
                    }
        return list(found)
