"""Everything that codesearch raises on purpose.

    CodeSearchError
    ├── ConfigError              a setting or argument that cannot be used
    ├── ModelBundleError         a model bundle that is missing, damaged or of the wrong shape
    ├── MissingExtraError        packages that are not installed
    ├── ExportError              a file that an export cannot write or must not replace
    ├── BackendError             a server that does not answer or whose data does not fit
    ├── PortableFileError        a portable file that is damaged, unsafe or of another version
    └── IndexStoreError          an index that cannot be read or written
        ├── IndexNotFoundError   no index for the requested folder
        ├── IndexFormatError     an index written by another version
        ├── IndexCorruptError    an index file that does not match its manifest
        ├── IndexWriteError      an index that cannot be written; the last commit stays
        └── IndexLockedError     another process is writing this index

Each message is one line: what happened, where, and what to do.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path


class CodeSearchError(Exception):
    """The base of all errors that codesearch raises on purpose; the text is written for the user.

    Attributes:
        problem: what happened.
        cure: what to do; "" if nothing helps.
        about: the subject of the problem, such as a folder; "" if the problem names it. The text is then
            "ABOUT is PROBLEM: CURE".

    >>> error = CodeSearchError("not indexed", "run `codesearch index`", about="/src")
    >>> str(error), error.message, error.reason
    ('/src is not indexed: run `codesearch index`', '/src is not indexed', 'not indexed: run `codesearch index`')
    """

    def __init__(self, problem: str, cure: str = "", *, about: str | Path = "") -> None:
        self.problem, self.cure, self.about = problem, cure, str(about)
        super().__init__(f"{self.message}: {cure}" if cure else self.message)

    @property
    def message(self) -> str:
        """What happened, without what to do."""
        return f"{self.about} is {self.problem}" if self.about else self.problem

    @property
    def reason(self) -> str:
        """What happened and what to do, without the subject."""
        return f"{self.problem}: {self.cure}" if self.cure else self.problem


class ConfigError(CodeSearchError):
    """A setting or argument that cannot be used."""


class ModelBundleError(CodeSearchError):
    """A model bundle that is missing, damaged or of the wrong shape."""


class MissingExtraError(CodeSearchError):
    """Packages that are not installed; the message contains the command that adds them to this environment."""

    def __init__(self, *packages: str) -> None:
        from codesearch.installation import how_to_add

        verb = "is" if len(packages) == 1 else "are"
        super().__init__(f"{', '.join(packages)} {verb} not installed", how_to_add(*packages))


class ExportError(CodeSearchError):
    """A file that an export cannot write or must not replace."""


class BackendError(CodeSearchError):
    """A server that does not answer, or whose data another model or version wrote."""


class PortableFileError(CodeSearchError):
    """A portable file that is damaged, unsafe or of another version."""


class IndexStoreError(CodeSearchError):
    """An index that cannot be read or written."""


class IndexNotFoundError(IndexStoreError):
    """No index for the requested folder."""


class IndexFormatError(IndexStoreError):
    """An index written by another version of the format."""

    def __init__(self, found: object, expected: int, root: str) -> None:
        super().__init__(f"index format {found}, expected {expected}", f"run {index_command(root)} again")
        self.root = root
        self.is_older = isinstance(found, int) and found < expected
        """Whether an earlier version wrote the index; this version can then rebuild it."""


class IndexCorruptError(IndexStoreError):
    """An index file that does not match its manifest."""

    def __init__(self, path: Path, reason: str, root: str) -> None:
        super().__init__(f"{path}: {reason}", f"run {index_command(root, '--rebuild')}")
        self.path = path


NO_MEMORY = "there is not enough memory: end other programs, or raise the limit of `ulimit -v`"
_OF_MEMORY = "bad_alloc;bad allocation;llocate memory;out of memory;hared memory;start new thread".split(";")
"""What libraries say that have no exception of their own for it, such as ONNX Runtime."""


def lacks_memory(error: BaseException) -> bool:
    """Say whether the system has refused memory, or a thread."""
    is_refused = isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM
    return is_refused or any(text in str(error) for text in _OF_MEMORY)


def index_command(root: Path | str, *options: str, command: str = "index") -> str:
    """Return the command that indexes a folder, as messages show it."""
    import shlex

    return f"`{shlex.join(['codesearch', command, *options, str(root)])}`"


def nearest_or(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return the cure for an unknown name: the known one that it resembles, or `otherwise`."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]!r}?" if near else otherwise


def unreadable(path: Path, error: OSError, root: str) -> IndexStoreError:
    """Return the error for a file of an index that the system cannot open: the index itself may be intact."""
    if isinstance(error, FileNotFoundError):
        return IndexCorruptError(path, "missing", root)
    cures = {
        errno.EMFILE: "raise the limit with `ulimit -n 4096`, or search fewer folders",
        **dict.fromkeys((errno.ENFILE, errno.ENOMEM), "end other programs, or search fewer folders"),
        **dict.fromkeys((errno.EACCES, errno.EPERM), "make it readable"),
    }
    reason = error.strerror or str(error)
    if error.errno in cures:
        return IndexStoreError(f"{path}: {reason}", cures[error.errno])
    return IndexCorruptError(path, reason, root)


class IndexWriteError(IndexStoreError):
    """An index that cannot be written, because storage or memory ran out or is not writable; the last commit stays."""


class IndexLockedError(IndexStoreError):
    """Another process is writing this index."""

    def __init__(self, pid: int, root: str, how_far: str = "") -> None:
        super().__init__(f"being indexed by process {pid}{how_far}", "wait for it, or stop it", about=root)
