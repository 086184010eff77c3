"""Settings of the shop."""
import os
from shop import (
    orders,
)
__all__ = ["NAMES", "TABLE"]
LIMIT = 3
# Names.
NAMES = ("a", "b")
TABLE = {
    "a": 1,
}
_cache = {}
log = getLogger()
type Id = int

@decorate(
    1)
def run(): pass

class Colour(enum.StrEnum):
    RED = 1
class Reader(Protocol[T]):
    limit = 2
    def read(self): ...

if __name__ == "__main__":
    run()
    run()
    # Twice.
    run()
