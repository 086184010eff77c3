"""The entry point of `python -m codesearch`."""

from codesearch.cli.entry import run

if __name__ == "__main__":
    run()
