"""`make lint`: names that Windows does not have are used only where listed. mypy finds them for that platform."""

from __future__ import annotations

import re
import subprocess
import sys

GUARDED = {
    ("cores.py", "sysconf"),
    ("evaluation/stages.py", "RUSAGE_CHILDREN"),
    ("evaluation/stages.py", "RUSAGE_SELF"),
    ("evaluation/stages.py", "getrusage"),
    *(("index/parse.py", name) for name in "ITIMER_PROF RLIMIT_CORE".split()),
    *(("index/parse.py", name) for name in "getrlimit setitimer setrlimit sysconf".split()),
    ("files.py", "LOCK_EX"),
    ("files.py", "LOCK_NB"),
    ("files.py", "flock"),
    ("home.py", "getuid"),
    *(("segments/mapping.py", name) for name in ("MAP_SHARED", "PROT_READ")),
    ("service/address.py", "fchdir"),
    ("service/client.py", "AF_UNIX"),
    ("service/client.py", "getuid"),
    ("service/server.py", "AF_UNIX"),
    ("treefiles.py", "O_DIRECTORY"),
    ("treefiles.py", "O_NOFOLLOW"),
    ("watch/inotify.py", "POLLPRI"),
    ("watch/inotify.py", "poll"),
}
"""Names that Windows does not have, and the modules that check for them before use."""


def main() -> str:
    """Return what differs from the list; nothing if all is listed."""
    check = [sys.executable, "-m", "mypy", "--platform", "win32", "--cache-dir", ".mypy_cache/win32"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    found = set(
        re.findall(r'^codesearch/(.*?):\d+: error: Module has no attribute "(\w+)"', done.stdout, re.M)
    )
    return "\n".join(
        f"{module}: {name} is {'not listed' if (module, name) in found else 'no longer used'}: see {__file__}"
        for module, name in sorted(found ^ GUARDED)
    )


if __name__ == "__main__":
    sys.exit(main() or 0)
