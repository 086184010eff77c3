import os

# Not the docstring.
@cache
@wraps(os.path)
def load(path: str,
         mode: str = "r") -> bytes:
    # A comment before it.
    """Load a file.

    Slowly.
    """
    def inner():
        pass
    return b""


# Sort in place.
async def sort(items): pass


class Store(Base):
    """Keeps things."""

    limit = 3

    # Put one.
    @log
    def put(self, item):
        return item

    class Inner:
        def get(self):
            return 1
    # Below.
