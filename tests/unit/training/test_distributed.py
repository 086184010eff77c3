"""Two processes as `torchrun` starts them, against one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("zstandard")

from training import checkpoint
from training.__main__ import main

ROOT = Path(__file__).parents[3]
SETTINGS = "--dim 8 --vocabulary-size 200 --batch-size 21 --epochs 2 --token-dropout 0 --device cpu".split()
TWO = "-m torch.distributed.run --standalone --nproc-per-node 2 -m -- training".split()


def figures(run):
    lines = map(json.loads, (run / checkpoint.METRICS).read_text().splitlines())
    return [(line["loss"], line["valid_mrr"]["average"]) for line in lines]


@pytest.mark.slow
@pytest.mark.parametrize("options", ["--encoder nbow", "--encoder selfatt --dropout 0 --chunk 6"])
def test_two_processes_have_the_loss_of_one_with_the_whole_batch(options, corpus, tmp_path):
    train = ["train", "--corpus", str(corpus), *options.split(), *SETTINGS]
    assert main([*train, "--run", str(tmp_path / "one")]) == 0
    done = subprocess.run(
        [sys.executable, *TWO, *train, "--run", str(tmp_path / "two")],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    one, two = (figures(tmp_path / name) for name in ("one", "two"))
    assert len(two) == 2
    for expected, found in zip(one, two, strict=True):
        assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.slow
def test_an_architecture_for_one_process_says_so(corpus, tmp_path):
    train = ["train", "--corpus", str(corpus), "--encoder", "ncs", *SETTINGS, "--run", str(tmp_path / "run")]
    done = subprocess.run(
        [sys.executable, *TWO, *train], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "error: architecture ncs: trains in one process: start it without torchrun" in done.stderr
