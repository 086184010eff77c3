type Pair[T] = tuple[T, T]
class A:
    x: int = 3
    y: str
    NAMES = ["a", "b"]
    TABLE = {
        "a": 1,
    }
    def __init__(self):
        self.z = 1
    @property
    def size(self):
        return 1
    @size.setter
    def size(self, v):
        pass
class E(Enum):
    RED = 1
"""Strings that open no file
are statements."""
class Gauge:
    @property
    def level(self): return 1
    def other(self): return 2
    @level.setter
    def level(self, n): self.n = n


LOW, HIGH = 1, 2
try:
    HAS_JSON = True
except ImportError:
    HAS_JSON = False


class Pair:
    first, second = 1, 2

    def __init__(self):
        self.left, self.right = 1, 2

class Grid:
    width = height = 3


@typing.overload
def load(path: str) -> str: ...
@overload
def load(path: bytes) -> bytes:
    """Load bytes."""
def load(path):
    """Load a file."""
    return path


class Loader:
    @overload
    def load(self, path: str) -> str: ...
    @overload
    def load(self, path: bytes) -> bytes: ...
