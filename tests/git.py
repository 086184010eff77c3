"""Git repositories of tests."""

import os
import subprocess
from pathlib import Path

from tests.conftest import write_tree

FILES = {f"{name}.py": f"def push_{name}(item):\n    return item\n" for name in "abc"}
_OWN = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")


def git(folder: Path, *arguments: object, stdin: bytes = b"") -> str:
    """Run git and return what it prints."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", *_OWN, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, env=variables, input=stdin, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace").strip()


def repository(folder: Path, files: dict[str, str] = FILES) -> Path:
    """Write files and commit them."""
    write_tree(folder, files)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder
