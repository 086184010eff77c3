"""The form of a query or of a place: a path, a name, code, or words.

src/app.py, app.py, src/    a file or a folder, by its path or by the end of its path
src/app.py:12, app.py:12:5  a line; the column does not count
src/app.py:12-40            lines
app.py::Stack.push          a definition of a file
Stack.push, push(x)         a definition by its name and names around it
class Stack, Stack class    the same, of a kind
where is Stack defined      the same
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from codesearch.parsing.identifiers import split_identifier
from codesearch.types import KINDS, TYPE_KINDS

_SEPARATORS = re.compile(r"::|->|[#.\\]")
_CALL = re.compile(r"\((?:[^()]|\([^()]*\))*\)?;?$")
_NAME = re.compile(r"[^\W\d][\w$]*(?:-\w[\w$]*)*[?!=']?")
_MAX_WORDS = 5
"""A name rarely has more words."""
_MAX_CHARS, _MANY_WORDS = 1_000, 40
"""A longer query is not taken for a name."""
_LAST_ASKED = 16
"""Several parts of a search parse the same query."""
MOST_PLACE = 4_096
"""A longer text is no place."""
_NO_QUALIFIERS = frozenset({"self", "this", "cls", "crate", "super"})
_IDENTIFIER = re.compile(r"[^\W_][a-z0-9][A-Z]|[^\W_]_[^\W_]|\w(?:\(\)|::\w)")
CODE_LINE = re.compile(
    r"[;{}:(\[]\s*$|^\s*[}\])@]|=>|->|[-+*/|&:!=<>]=|\w\s=\s\S|^(?>.*?\w\().*\)|^\s*(?:end|return)\b|[\w\])]\.\w+\(|\$\w"
)
"""It is in a line of code in a text of several lines."""
_CODE = re.compile(r"[;{}]\s*$|=>|->|(?m:^)(?>.*?\w\().*\).*[;={(]|^\s*(?:def|func|fn|function)\s+\w+\s*\(")
"""It is in a single line of code."""
_ASKS_WHERE = re.compile(
    r"(?:where\s+(?:is|are)|(?:definition|declaration|implementation)\s+of)\s+(?:the\s+)?(.+?)"
    r"(?:\s+(?:defined|declared|implemented))?\s*\??",
    re.IGNORECASE,
)
_FUNCTIONS, _CLASSES = frozenset({"function", "method"}), TYPE_KINDS
_HINTS = {
    **dict.fromkeys("def defp defmacro func function fn fun macro sub".split(), (_FUNCTIONS,)),
    "method": (frozenset({"method"}), _FUNCTIONS),
    **{kind: (frozenset({kind}), _CLASSES) for kind in _CLASSES},
    "protocol": (frozenset({"interface"}), _CLASSES),
    **dict.fromkeys(("record", "union"), (frozenset({"class", "struct"}), _CLASSES)),
    **dict.fromkeys(("const", "constant"), (frozenset({"constant"}),)),
    **dict.fromkeys(("defmodule", "module", "namespace"), (frozenset({"module"}), _CLASSES)),
}
"""Word before or after a name -> the kinds that it asks for; if no definition has the first ones, the next ones."""
_MODIFIERS = frozenset(
    "abstract async export default final inline internal open override private protected pub public sealed static "
    "unsafe virtual".split()
)
_PLACE = re.compile(
    r"""(?P<path>.+?)
    (?: :(?P<first>[0-9]{1,9})                   # a line
        (?: -(?P<last>[0-9]{1,9}) | :[0-9]* )?   # the last line, or a column
    )? :?""",
    re.VERBOSE | re.DOTALL,
)
_LIKE_A_PATH = re.compile(r"[/\\]|\.\w+$|^(?:\w*[Mm]ake|\w+)file$")

ENGLISH_ONLY = "the model knows English only: ask in English words"
_FOREIGN = frozenset(
    "adresse als archivo arquivo auf aus aux avec bei beim bild cadena calculer cette chaîne che com comment como "
    "con conexión connexion cuando cómo da dados dans das dass datei datos de dei del della delle dem den der des "
    "desde deux di diese dirección dos du dónde ein eine einem einen einer eines el em endereço entre est está "
    "fehler fichier für il ist la las le leer ler les lesen ligne lire lista liste lo los mit na nach nas nel "
    "nicht nos não oder ohne onde ordenar où par para pela pelo por pour quand quando que qui qué sans schreiben "
    "sem senza sin sobre sono suchen supprimer sur são tous trier uma umwandeln un und une usuario usuário "
    "utilisateur validar verbindung von wenn werden wie wird wo zahl zeichenkette zeile zum zur".split()
)
"""Words that are neither English nor usual in code: frequent ones, and those of programming."""
_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a text may name. A text such as `http.js` may be a path and a name."""

    path: str = ""  # What may be the path of a file or folder, as it was typed.
    first: int = 0  # A line of the file; 0 for none.
    last: int = 0  # The last one of several lines; 0 for none.
    inside: tuple[str, ...] = ()  # Names behind PATH::, of a definition in the file.
    names: tuple[str, ...] = ()  # Of a definition, behind those around it; () if the text is no name.
    kinds: Sequence[frozenset[str]] = ()  # Sets of kinds that it should have, the best first; () for any.

    @property
    def ending(self) -> str:
        """The end of the path, with forward slashes; a terminal shows `…` for folders of a long path."""
        return self.path.replace("\\", "/").rpartition("…/")[2].removeprefix("./").lstrip("/")

    @property
    def file(self) -> str:
        """The end of the path if a query with it asks for a file, else ""."""
        is_path = "\n" not in self.path and _LIKE_A_PATH.search(self.path)
        return self.ending if is_path else ""


@lru_cache(_LAST_ASKED)
def parse_asked(text: str) -> Asked:
    """Return what a text may name; the file or definition may not exist.

        text = PATH [":" FIRST ["-" LAST | ":" COLUMN]] [":"]   |   PATH "::" NAMES   |   [KIND] NAMES [KIND]

    >>> asked = parse_asked("./http/client.py:12:3")
    >>> asked.file, asked.first, parse_asked("client.py::Client.get").inside, parse_asked("push an item").names
    ('http/client.py', 12, ('Client', 'get'), ())
    """
    text = text.strip()
    match = _PLACE.fullmatch(text) if len(text) <= MOST_PLACE else None
    if match is None:
        return Asked()
    first, last = int(match["first"] or 0), int(match["last"] or 0)
    path, mark, inside = (match["path"], "", "") if first else match["path"].partition("::")
    names, kinds = _asked_names(text)
    return Asked(path, first, last, tuple(split_name(inside)) if mark else (), names, kinds)


def _asked_names(text: str) -> tuple[tuple[str, ...], Sequence[frozenset[str]]]:
    """Return the names that a text asks for, and the kinds that its words and brackets hint at."""
    if len(text) > _MAX_CHARS:
        return (), ()
    where = _ASKS_WHERE.fullmatch(text)
    words = (where[1] if where else text).split()
    first = next((place for place, word in enumerate(words) if word not in _MODIFIERS), 0)
    kinds: Sequence[frozenset[str]] = ()
    if len(words) > first + 1 and words[first].lower() in _HINTS:
        kinds, words = _HINTS[words[first].lower()], words[first + 1 :]
    elif len(words) > 1 and words[-1].lower() in _HINTS:
        kinds, words = _HINTS[words[-1].lower()], words[:-1]
    name = " ".join(words).rstrip(":{ ") if kinds else " ".join(words)
    parts = name_parts(name)
    if parts and not kinds and parts[-1][0].islower() and _CALL.search(name):
        kinds = (_FUNCTIONS, frozenset(KINDS))
    return tuple(parts), kinds


def name_parts(query: str) -> list[str]:
    """Split a query that is only a name, as it is written in code, into qualifiers and name; return [] for others.

    >>> name_parts("Stack::push(item)"), name_parts("self.items"), name_parts("push an item")
    (['Stack', 'push'], ['items'], [])
    """
    parts = split_name(_CALL.sub("", query.strip()))
    if not all(_NAME.fullmatch(part) for part in parts):
        return []
    return parts[1:] if len(parts) > 1 and parts[0] in _NO_QUALIFIERS else parts


def split_name(qualified: str) -> list[str]:
    """Split a qualified name at the separators of all languages."""
    return _SEPARATORS.split(qualified)


def spellings(name: str) -> list[str]:
    """List the spellings of a name: as given, with underscores between its words, and without them.

    >>> spellings("readLines")
    ['readLines', 'read_lines', 'readlines']
    """
    parts = split_identifier(name)
    found = [name, "_".join(parts), "".join(parts)] if parts else [name]
    if not name.isascii():  # An accent may be a letter of its own.
        found += [unicodedata.normalize(form, name) for form in ("NFC", "NFD")]
    return list(dict.fromkeys(found))


def possible_names(query: str) -> list[str]:
    """List the names that a query may mean, ignoring case: the one that it asks for, and its words as one name.

    >>> possible_names("Stack.push"), possible_names("zip file"), possible_names("what is this?")
    (['push'], ['zip_file', 'zipfile'], [])
    """
    names = parse_asked(query).names
    return [*(spellings(names[-1]) if names else ()), *joined_names(query)]


def joined_names(query: str) -> list[str]:
    """List the names that the words of a short query make; none if its words are hints and a name in mixed case.

    >>> joined_names("Zip file"), joined_names("class loader"), joined_names("class Loader")
    (['zip_file', 'zipfile'], ['class_loader', 'classloader'], [])
    """
    words = query.lower().split()
    if not 1 < len(words) <= _MAX_WORDS or not all(map(str.isalnum, words)):
        return []
    if not query.islower() and parse_asked(query).names:
        return []
    return ["_".join(words), "".join(words)]


def is_code(query: str) -> bool:
    r"""Say whether a query is a piece of code: several lines, or one line that does not look like a sentence.

    >>> is_code("for x in xs:\n    total += x"), is_code("if (a == b) { return a; }"), is_code("parse(x) in go")
    (True, True, False)
    """
    if parse_asked(query).names:
        return False
    lines = [line for line in query.splitlines() if line.strip()]
    if len(lines) > 1:
        return any(map(CODE_LINE.search, lines))
    return _CODE.search(query) is not None


def has_identifier(query: str) -> bool:
    """Say whether a query has a word that can only be a name in code.

    >>> has_identifier("crash in loadConfig"), has_identifier("fix read_all()"), has_identifier("Parse the file.")
    (True, True, False)
    """
    return _IDENTIFIER.search(query) is not None


def is_long(query: str) -> bool:
    """Say whether a query has several lines or more than forty words."""
    return "\n" in query.strip() or len(query.split()) > _MANY_WORDS


def is_foreign(query: str) -> bool:
    """Say whether a query is probably not in English, the only language that the model has learned.

    >>> is_foreign("Datei mit einer Zeile lesen"), is_foreign("как прочитать файл"), is_foreign("ファイルを読み込む")
    (True, True, True)
    >>> is_foreign("la liste des fichiers"), is_foreign("read a file line by line"), is_foreign("naïve bayes")
    (True, False, False)
    """
    words = _LETTERS.findall(query.lower())
    letters = "".join(words)
    if sum(not unicodedata.name(letter, "").startswith("LATIN") for letter in letters) * 2 > len(letters):
        return True
    signs = {word for word in words if word in _FOREIGN or not word.isascii()}
    return len(signs) > 1 or any(word in _FOREIGN and not word.isascii() for word in signs)


def did_you_mean(names: Sequence[str]) -> str:
    """Return a question for the nearest names; "" for none.

    >>> did_you_mean(["push", "pop"])
    'did you mean push or pop?'
    """
    *others, last = names or ("",)
    return f"did you mean {', '.join(others)}{' or ' if others else ''}{last}?" if names else ""
