"""A name in a source -> the definitions that it can mean, and how sure that is.

`graded` reads what is around the name as text: the word before it, the definition around it, and the import
statements of its file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from codesearch.parsing.languages import separator_of
from codesearch.search.literals import Proposed
from codesearch.search.lookup import innermost
from codesearch.store.source import Ref
from codesearch.structure.imports import Statement, by_module, statements
from codesearch.types import NESTED

GRADES = ("certain", "likely", "one of several", "no definition", "in comments")
NO_DEFINITION, IN_COMMENTS = 3, 4
_SELF = {
    **dict.fromkeys(
        "python cython ruby crystal swift objc lua rust perl zig".split(), ("self", "Self", "cls")
    ),
    "php": ("this", "self", "static"),
}
"""Language -> what means the instance or class around; by default only `this`."""
_NEEDS_SELF = frozenset("python javascript typescript tsx vue svelte go rust php lua perl zig".split())
"""Languages in which a member is never used without a qualifier."""
_FAMILIES = (
    ("javascript", "typescript", "tsx", "vue", "svelte", "html", "coffeescript"),
    ("c", "cpp", "objc"),
    ("java", "kotlin", "scala", "groovy"),
    ("ocaml", "ocamli"),
)
_FAMILY = {language: family[0] for family in _FAMILIES for language in family}
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_ALSO = {
    **dict.fromkeys(("javascript", "typescript", "tsx", "vue", "html", "coffeescript", "java"), b"$"),
    **dict.fromkeys(("css", "nix"), b"-"),
    **dict.fromkeys(("lisp", "clojure"), b"-*?!"),
}
"""Characters of identifiers, apart from letters, digits and underscores."""
_AT_END = {
    **dict.fromkeys(("ruby", "elixir", "crystal"), b"?!"),
    **dict.fromkeys(("haskell", "ocaml", "ocamli", "purescript", "fsharp", "nix"), b"'"),
    "julia": b"!",
}
"""Characters that identifiers may end with."""
_HASH, _DASHES, _SLASHES = (
    re.compile(rb"(?:^|\s)" + mark) for mark in (rb"#(?!\{)", rb"--", rb"//|^\s*\*[\s/]|/\*(?!.*\*/)")
)
_COMMENT = {
    **dict.fromkeys(
        "python cython ruby crystal bash perl elixir r julia yaml toml powershell nim".split(), _HASH
    ),
    **dict.fromkeys("coffeescript cmake make dockerfile terraform nix".split(), _HASH),
    **dict.fromkeys("lua sql haskell elm purescript".split(), _DASHES),
    "php": re.compile(rb"|".join((_HASH.pattern, _SLASHES.pattern))),
}
"""What opens a comment; by default `_SLASHES`."""
_MOST_BYTES = 4
"""Of a character in UTF-8."""
_QUALIFIER = re.compile(rb"(?:^|[^.])(?:\.|\?\.|&\.|!!\.|->|::|\\)\Z")
_LAST_WORD = re.compile(rb"[\w\x80-\xff]+\Z")
_MOST_QUALIFIER = 80
_MOST_LINE = 1_000
"""Bytes of a line that are looked through for the mark of a comment."""


class Names:
    """The definitions of a name; `targets` are the doc_ids of those that are asked for, in `target_files`."""

    def __init__(self, name: str, everything: Sequence[Ref], targets: Sequence[Ref]) -> None:
        self.name, self.text = name.encode("utf-8", "surrogatepass"), name
        self.targets = {ref.doc_id for ref in targets}
        self.target_files = {(ref.root, ref.path) for ref in targets}
        self.only_targets = len(targets) < len(everything)
        self._all = everything
        self._by_family: defaultdict[tuple[str, str], list[Ref]] = defaultdict(list)
        self._by_file: defaultdict[tuple[str, str], list[Ref]] = defaultdict(list)
        for one in everything:
            family = _FAMILY.get(one.file.language, one.file.language)
            self._by_family[one.root, family].append(one)
            self._by_family["", family].append(one)
            self._by_file[one.root, one.path].append(one)
        self.modules = by_module((f"{one.root.strip('/')}/{one.path}", one) for one in everything)
        self.has_only_methods = all(_is_method(one) for one in everything)
        self.owners = {one.owner for one in everything}

    def in_file(self, root: str, path: str) -> Sequence[Ref]:
        """Return the definitions in a file, in the order of lines."""
        return self._by_file.get((root, path), ())

    def possible(self, file: SourceFile) -> Sequence[Ref]:
        """Return what the name can mean in a file: its definitions in related languages and the same root, else all."""
        family = _FAMILY.get(file.language, file.language)
        by_family = self._by_family
        return by_family.get((file.root, family)) or by_family.get(("", family)) or self._all


class SourceFile:
    """A file that is looked through."""

    def __init__(self, proposed: Proposed, source: bytes, stale: bool) -> None:
        self.proposed, self.source, self.stale = proposed, source, stale
        self.root, self.path = proposed.segment.root, proposed.file.path
        self.language = proposed.file.language
        self.meant: dict[str | int | None, list[Ref]] = {}

    @cached_property
    def imports(self) -> list[Statement]:
        """Its import statements."""
        return statements(self.source, self.path, self.language)

    @cached_property
    def spans(self) -> list[tuple[int, int, str]]:
        """(first line, last line, qualified name) of its definitions, outer ones first."""
        file = self.proposed.file
        return self.proposed.segment.store.document_spans(file.first_doc, file.doc_count)

    @cached_property
    def _lines(self) -> list[tuple[int, int]]:
        return [(first, last) for first, last, _ in self.spans]

    def innermost(self, line: int) -> int | None:
        """Return the position of the innermost definition around a line."""
        return innermost(self._lines, line)


def _is_method(ref: Ref) -> bool:
    return ref.row.kind == "method"


def graded(file: SourceFile, names: Names, place: int, line: int) -> tuple[int, Sequence[Ref]]:
    """Return the grade of an occurrence, as a position in `GRADES`, and what it can mean."""
    if not names.modules:
        return NO_DEFINITION, ()
    own = names.in_file(file.root, file.path)
    before = qualifier(file.source, place)
    meant = [one for one in own if _reaches(one, file, line, before)]
    if not meant:
        meant = _imported(file, names, place, before)
    if len(meant) == 1:
        return 0, meant
    possible = meant or _possible(file, names, before)
    return (1 if len(possible) == 1 else 2 if possible else NO_DEFINITION), possible


def _possible(file: SourceFile, names: Names, before: str | None) -> Sequence[Ref]:
    """Return the definitions that the word before an occurrence allows."""
    possible = names.possible(file)
    if not before:
        return possible
    if file.language == "go" and any(one.is_standard_go and before in one.words for one in file.imports):
        return list(filter(_is_method, possible))
    return [one for one in possible if one.owner == before] or possible


def _reaches(one: Ref, file: SourceFile, line: int, before: str | None) -> bool:
    """Say whether an occurrence in the file of a definition means this definition."""
    if before is not None and before == one.owner:
        return True
    is_plain = before is None or before in _SELF.get(file.language, ("this",))
    if not _is_method(one) and not one.row.flags & NESTED:
        return is_plain
    if not is_plain or (before is None and _is_method(one) and file.language in _NEEDS_SELF):
        return False
    inside = file.innermost(line)
    if inside is None:
        return False
    return f"{file.spans[inside][2]}{separator_of(one.file.language)}".startswith(one.around)


def _imported(file: SourceFile, names: Names, place: int, before: str | None) -> list[Ref]:
    """Return the definitions in other files that the import statements of a file name."""
    if before not in names.owners and names.has_only_methods:
        return []
    imports = file.imports
    around = bisect_right(imports, place, key=lambda one: one.start) - 1
    is_inside = around >= 0 and place < imports[around].end
    key = around if is_inside else before
    if key not in file.meant:
        chosen = imports[around : around + 1] if is_inside else imports
        file.meant[key] = _meant(chosen, names, None if is_inside else before, names.possible(file))
    return file.meant[key]


def _meant(
    imports: Sequence[Statement], names: Names, before: str | None, possible: Sequence[Ref]
) -> list[Ref]:
    """Return the definitions that agree best with the statements that name them or the word before the name."""
    best, found, allowed = 1, list[Ref](), set(possible)
    word = names.text if before is None else before
    for statement in imports:
        is_named = word in statement.text and word in statement.words
        if not is_named and not statement.opens_all:
            continue
        for score, one in statement.agreeing(names.modules, names.text):
            if before is None:
                is_meant = not _is_method(one)
            else:
                is_meant = before == one.owner if _is_method(one) or not is_named else True
            if is_meant and score >= best and one in allowed:
                found = [*(found if score == best else ()), one]
                best = score
    return list(dict.fromkeys(found))


def occurrences(source: bytes, name: bytes, language: str) -> Iterator[int]:
    """Yield the place of each occurrence that is not a part of a longer identifier of the language.

    >>> list(occurrences(b"empty? if empty or $empty", b"empty", "ruby"))
    [10, 20]
    """
    inside = _WORD | set(_ALSO.get(language, b""))
    after = inside | set(_AT_END.get(language, b""))
    begins, ends = (is_part(name[:_MOST_BYTES], inside), is_part(name[-_MOST_BYTES:], after, last=True))
    # Most occurrences in longer words are ruled out by the bytes next to them, because a call for each would be slow.
    longer_before, longer_after = (inside if begins else frozenset(), _WORD if ends else frozenset())
    place, size, length = source.find(name), len(name), len(source)
    while place >= 0:
        end = place + size
        if not (
            (end < length and source[end] in longer_after)
            or (place and source[place - 1] in longer_before)
            or (begins and is_part(source[max(place - _MOST_BYTES, 0) : place], inside, last=True))
            or (ends and is_part(source[end : end + _MOST_BYTES], after))
        ):
            yield place
        place = source.find(name, place + 1)


def is_part(text: bytes, inside: frozenset[int], *, last: bool = False) -> bool:
    """Say whether the first (or last) character of a few bytes can be a part of an identifier."""
    if not text:
        return False
    byte = text[-1 if last else 0]
    if byte >= 0x80:
        return text.decode("utf-8", "ignore")[-1 if last else 0 :][:1].isalnum()
    # "a!=b" compares `a`.
    return byte in inside and not (byte in b"?!" and not last and text[1:2] == b"=")


def in_comment(source: bytes, place: int, language: str) -> bool:
    """Say whether a place is behind what opens a comment in its line.

    >>> in_comment(b"// get", 3, "go"), in_comment(b"# get", 2, "ruby"), in_comment(b'"http://get"', 8, "go")
    (True, True, False)
    """
    line = source[max(source.rfind(b"\n", 0, place) + 1, place - _MOST_LINE) : place]
    return _COMMENT.get(language, _SLASHES).search(line) is not None


def qualifier(source: bytes, place: int) -> str | None:
    """Return the word before a name that is joined to it, as in `word.name`; "" for another expression, None for none.

    >>> qualifier(b"self.push", 5), qualifier(b"a().push", 4), qualifier(b"std::push", 5), qualifier(b"...push", 3)
    ('self', '', 'std', None)
    """
    before = source[max(place - _MOST_QUALIFIER, 0) : place]
    joined = _QUALIFIER.search(before)
    if not joined:
        return None
    found = _LAST_WORD.search(before.rstrip(b".?&!->:\\"))
    return found.group().decode("utf-8", "replace") if found else ""
