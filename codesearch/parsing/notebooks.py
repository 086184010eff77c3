"""The code cells of a Jupyter notebook, which is JSON -> Python, each line at the line that the file has it in."""

from __future__ import annotations

import json
import re
from itertools import islice

# A string, and the colon that makes it a key; a bracket; the end of a line.
_TOKEN = re.compile(rb'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))([ \t]*:)?|[\[\]{}]|\n', re.DOTALL)
_MOST_TOKENS = 400_000  # Notebooks have a few for each line. The rest of a file with more is not read.
_LANGUAGE = ([b'"metadata"', b'"kernelspec"', b'"language"'], [b'"metadata"', b'"language_info"', b'"name"'])
_CELLS = b'"cells"'
_SOURCE, _TYPE = ([_CELLS, b"", b'"source"'], [_CELLS, b"", b'"input"']), [_CELLS, b"", b'"cell_type"']
_OTHER_CODE = re.compile(r"\s*%%(?!time|capture|prun)")  # A cell that begins so is in another language
_COMMAND = re.compile(r"(\s*)([%!].*)")


def code_of(notebook: bytes) -> bytes:
    """Return the code as UTF-8; b"" if there is none, or it is not Python. Commands such as `!ls` become comments."""
    lines: list[str] = []
    cell: list[tuple[int, str]] = []
    keys: list[bytes] = []  # that of each open object or list; b"" in a list
    row, is_code = 0, False
    for match in islice(_TOKEN.finditer(notebook), _MOST_TOKENS):
        token, text, colon = match[0], match[1], match[2]
        path = keys[2:] if keys[:1] == [b'"worksheets"'] else keys  # Format 3 and older.
        if token in b"[{":
            keys.append(b"")
        elif token in b"]}":
            if path[:1] == [_CELLS] and len(path) == 3:
                lines += _python(cell, len(lines)) if is_code else []
                cell, is_code = [], False
            del keys[-1:]
        elif text and colon and keys:
            keys[-1] = text
        elif text and path[:3] in _SOURCE and len(path) <= 4:
            cell.append((row, _string(text)))
        elif text and path == _TYPE:
            is_code = text == b'"code"'
        elif text and keys in _LANGUAGE and text.lower() != b'"python"':
            return b""
        row += token.count(b"\n")
    return "\n".join(lines).encode("utf-8", "replace")


def _string(text: bytes) -> str:
    try:
        return str(json.loads(text))
    except ValueError:  # It has a line end, which JSON does not allow.
        return ""


def _python(cell: list[tuple[int, str]], above: int) -> list[str]:
    """Return the lines of a cell, and blank lines before them; lines that JSON has in one line are below each other."""
    lines: list[str] = [""] if above else []
    is_other = bool(_OTHER_CODE.match("".join(text for _, text in cell)))
    for row, text in cell:
        lines += [""] * (row - above - len(lines))
        for line in text.removesuffix("\n").split("\n"):
            lines.append(f"# {line}" if is_other else _COMMAND.sub(r"\1# \2", line))
    return lines
