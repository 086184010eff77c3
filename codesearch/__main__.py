"""The entry point of `python -m codesearch`."""

import os
import sys

# `python -m` puts the working directory first on the path. Nothing may be imported from a repository.
if not sys.flags.safe_path and sys.path[0] != os.path.dirname(os.path.dirname(os.path.abspath(__file__))):
    del sys.path[0]

from codesearch.cli.entry import run

if __name__ == "__main__":
    run()
