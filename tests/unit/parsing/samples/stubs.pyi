def one(x):
    pass

def two(x):
    """Do it."""

def three(x):
    """Do it."""
    raise NotImplementedError("later")

def four(x) -> int: ...

def whole(x):
    return x

def partly(x):
    if x:
        raise NotImplementedError
    return 1

class Error(Exception):
    pass

def outer():
    class Inner:
        def deep(self):
            return 1
    def other():
        return 1
    return Inner, other
