"""A pack of the challenge's sources -> the table of digests that downloads are checked against.

It skips texts with replacement characters, because the original files may have other bytes.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from codesearch.evaluation.download import DIGESTS, known_digest, path_digest
from codesearch.evaluation.pack import unpacked


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path, help="sources.jsonl.zst")
    with tempfile.TemporaryDirectory() as cache:
        tree = unpacked(parser.parse_args().pack, Path(cache), lambda stage, done, total: None)
        records = []
        for path in (path for path in tree.rglob("*") if path.is_file()):
            content = path.read_bytes()
            if "\ufffd".encode() not in content:
                records.append(path_digest(path.relative_to(tree).as_posix()) + known_digest(content))
    DIGESTS.write_bytes(b"".join(sorted(records)))
    print(f"{len(records):,} files")


if __name__ == "__main__":
    main()
