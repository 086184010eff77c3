"""`python -m exporters`: the commands of `exporters.commands`."""

import sys
from functools import partial

from training.command import run_command

main = partial(run_command, "exporters")

if __name__ == "__main__":
    sys.exit(main())
