"""A pickle of plain data -> that data. A pickle with anything else is refused before it runs."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import NoReturn

from training.errors import TrainingError

_BROKEN = (
    pickle.UnpicklingError,
    EOFError,
    ValueError,
    IndexError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    MemoryError,
)


class _PlainUnpickler(pickle.Unpickler):
    """Reads lists, tuples, dicts, sets, texts, bytes and numbers, and refuses every class and function.

    A pickle must name a global before it can call it, so nothing can run.
    """

    def find_class(self, module_name: str, global_name: str, /) -> NoReturn:
        raise TrainingError(f"it asks for {module_name}.{global_name}, which plain data never needs")


def read_plain_pickle(path: Path) -> object:
    """Read a pickle that has only builtin containers, texts and numbers.

    Raises:
        TrainingError: the file names a global, or is not a pickle.
    """
    try:
        with path.open("rb") as file:
            return _PlainUnpickler(file).load()
    except TrainingError as error:
        raise TrainingError(f"{path}: refused, nothing of it was run: {error}") from None
    except _BROKEN as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise TrainingError(f"{path}: not a pickle ({reason}): download it again") from None
