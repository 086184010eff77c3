"""The part that the command lines of `training` and `exporters` share."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

from codesearch.errors import CodeSearchError

CORPUS = Path("build/corpus")
"""Default folder of the corpus, as `make corpus` fills it."""


def run_command(package: str, arguments: list[str] | None = None) -> int:
    """Run the command of the arguments; for a user's error, print one line on stderr and return exit status 2.

    The functions of `PACKAGE.commands` are the commands, their parameters and docstrings the options and the help.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["corpus"]:  # It is one word with its step.
        step, *rest = arguments[1:] or ["--help"]
        arguments = [step] if step in ("--help", "-h") else [f"corpus {step}", *rest]
    try:
        module = import_module(f"{package}.commands")
        import tyro

        tyro.extras.subcommand_cli_from_dict(
            module.commands(arguments),
            prog=f"python -m {package}",
            description=module.__doc__,
            args=arguments,
            config=(tyro.conf.OmitArgPrefixes, tyro.conf.FlagCreatePairsOff),
        )
        sys.stdout.flush()  # Not at exit, where Python would print the error.
    except BrokenPipeError:  # The reader has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("stopped: the same command continues", file=sys.stderr)
        return 130
    except ModuleNotFoundError as error:
        message = f"{error.name} is not installed: run `pip install -e '.[train]'` in the clone"
    except CodeSearchError as error:
        message = str(error)
    except UnicodeEncodeError as error:
        message = f"{error.object!r} is not text in UTF-8: give another name"
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        message = f"{where}{error.strerror or error}: free the disk or give another path, then run it again"
    else:
        return 0
    print(f"error: {message}", file=sys.stderr)
    return 2
