def one():
    """Sort it.

    Slowly.
      Or not.
    """

def two():
    'Sort it.'

def three():
    r"""Sort \d."""

def four():
    '''Don't sort.'''
