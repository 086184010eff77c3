"""What tells that a file, or what an encoder sees of a document, is the same as before."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BYTES = 16


def content_digest(source: bytes) -> bytes:
    """Hash a file's bytes."""
    return blake2b(source, digest_size=_BYTES).digest()


def text_digest(token_ids: NDArray[np.uint32]) -> bytes:
    """Hash an encoder's ids of a document: equal ids have equal vectors."""
    return blake2b(token_ids.tobytes(), digest_size=_BYTES).digest()
