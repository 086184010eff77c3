"""`python -m exporters`: a run -> a bundle, checked against the run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from training.command import CORPUS, Parser, run_command

_ROWS = 300


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    return run_command(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m exporters", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    bundle = commands.add_parser("bundle", help="export a trained and evaluated run")
    bundle.add_argument("--run", type=Path, required=True, help="folder of a trained run")
    bundle.add_argument("--out", type=Path, required=True, help="bundle folder to write")
    bundle.add_argument(
        "--dtype", choices=("int8", "fp16", "fp32"), default="int8", help="type of the weights"
    )
    bundle.add_argument("--name", help="name in the manifest (default: architecture-dim-v1)")
    bundle.set_defaults(run_command=_bundle)
    check = commands.add_parser("check", help="compare a bundle with its manifest, and with its run")
    check.add_argument("--bundle", type=Path, required=True, help="bundle folder")
    check.add_argument("--run", type=Path, help="run that it was made from")
    check.add_argument(
        "--corpus", type=Path, default=CORPUS, help="corpus to take test texts from (default: %(default)s)"
    )
    check.set_defaults(run_command=_check)
    return parser


def _bundle(options: argparse.Namespace) -> None:
    from exporters.bundle import write_bundle

    manifest = write_bundle(options.run, options.out, options.dtype, options.name)
    size = sum(described["bytes"] for described in manifest["files"].values())
    means = ", ".join(f"{name} {values['average']:.3f}" for name, values in manifest["metrics"].items())
    print(f"{options.out}: {manifest['name']}, {size / 1e6:.1f} MB, {means}")


def _check(options: argparse.Namespace) -> None:
    from exporters.bundle import check_bundle

    manifest = check_bundle(options.bundle)
    print(f"{options.bundle}: {manifest['name']} is whole")
    if options.run:
        from exporters.parity import check_parity

        found = check_parity(options.run, options.bundle, manifest["dtype"], _test_texts(options.corpus))
        for file, parity in found.items():
            print(
                f"{file}: differs from the run by at most {parity.max_abs_diff:.2g}, cosine at least "
                f"{parity.min_cosine:.4f}"
            )


def _test_texts(corpus: Path) -> list[str]:
    """Return queries and documents of the first test rows of each language."""
    from training.evaluation.sets import first_test_rows
    from training.samples import texts_of_row

    return [text for row in first_test_rows(corpus, _ROWS) for text in texts_of_row(row)]


if __name__ == "__main__":
    sys.exit(main())
