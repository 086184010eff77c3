"""Files and archives."""

import gzip
import json
import shutil


def read_json(path):
    """Load a JSON document from a file."""
    with open(path) as file:
        return json.load(file)


def write_json(path, value):
    """Save a value as JSON to a file."""
    with open(path, "w") as file:
        json.dump(value, file)


def copy_tree(source, target):
    """Copy a folder with everything in it."""
    shutil.copytree(source, target)


def decompress(path):
    """Read a gzip file whole."""
    with gzip.open(path) as file:
        return file.read()


class LineReader:
    """Reads a file line by line."""

    def __init__(self, path):
        self.path = path

    def lines(self):
        """Yield each line without its end."""
        with open(self.path) as file:
            for line in file:
                yield line.rstrip()

    def count(self):
        """Count the lines of the file."""
        return sum(1 for _ in self.lines())
