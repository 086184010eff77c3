"""`python -m codesearch`."""

from codesearch.cli.main import run

if __name__ == "__main__":
    run()
