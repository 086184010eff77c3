"""The files of a repository before its commits, parsed once for each version."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from codesearch.parsing.languages import LanguageSpec
from training.corpus.split import stable_hash
from training.history.functions import Function, functions_of, product_language
from training.history.repository import Objects

_REMEMBERED = 400


class Trees:
    """Reads and parses files; the functions of the last 400 are remembered."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._parsed: OrderedDict[tuple[str, str], list[Function]] = OrderedDict()

    def read(self, blob: str) -> bytes:
        """Return the content of a file; nothing for ""."""
        return self._objects.read(blob) if blob else b""

    def functions(self, blob: str, path: str, spec: LanguageSpec) -> list[Function]:
        """Return the functions of a file."""
        key = blob, path
        if key in self._parsed:
            self._parsed.move_to_end(key)
            return self._parsed[key]
        found = self._parsed[key] = functions_of(self.read(blob), path, spec)
        if len(self._parsed) > _REMEMBERED:
            self._parsed.popitem(last=False)
        return found

    def neighbours(self, commit: str, path: str, count: int) -> Iterator[list[Function]]:
        """Yield the functions of other files in the folder of a file before a commit, if possible always the same."""
        folder = path.rpartition("/")[0]
        files = sorted(self._files(commit, folder), key=lambda file: stable_hash(file[0]))
        for name, blob in files:
            other = f"{folder}/{name}".lstrip("/")
            spec = product_language(other)
            if not count:
                return
            if spec and other != path:
                count -= 1
                yield self.functions(blob, other, spec)

    def _files(self, commit: str, folder: str) -> Iterator[tuple[str, str]]:
        """Yield name and id of the regular files of a folder before a commit."""
        tree = self._objects.read(f"{commit}^:{folder}")
        size = len(commit) // 2
        at = 0
        while at < len(tree):
            end = tree.index(b"\0", at)
            mode, _, name = tree[at:end].partition(b" ")
            if mode.startswith(b"100"):
                yield name.decode("utf-8", "replace"), tree[end + 1 : end + 1 + size].hex()
            at = end + 1 + size
