"""Two processes, started by `torchrun` or with its variables, against one."""

import json
import os
import subprocess
import sys

import pytest

from tests.command import ROOT, TIMEOUT
from training import checkpoint
from training.__main__ import main

SETTINGS = "--dim 8 --vocabulary-size 200 --batch-size 21 --epochs 2 --token-dropout 0 --device cpu".split()
TORCHRUN = "-m torch.distributed.run --standalone --nproc-per-node 2 -m -- training".split()
TWO = """
import os, socket, sys, time
import torch._dynamo  # Takes seconds, and both processes need it.
import training.loop, training.pipeline
from training.__main__ import main

with socket.create_server(("127.0.0.1", 0)) as free:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1]), "WORLD_SIZE": "2"}

def plot_slowly(run):
    time.sleep(0.5)
    os.write(2, b"written\\n")  # In one piece: the two processes write at the same time.

for rank in "01":
    if os.fork() == 0:
        os.environ |= {"RANK": rank, "LOCAL_RANK": rank}
        training.checkpoint.plot_curve = plot_slowly
        code = main(sys.argv[1:])
        os.write(2, b"left\\n")
        os._exit(code)
sys.exit(max(os.waitstatus_to_exitcode(os.wait()[1]) for _ in "01"))
"""


def figures(run):
    lines = map(json.loads, (run / checkpoint.METRICS).read_text().splitlines())
    return [(line["loss"], line["valid_mrr"]["average"]) for line in lines]


def train_with_two(*arguments, launcher=("-c", TWO)):
    return subprocess.run(
        [sys.executable, *launcher, *arguments],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "launcher"),
    [
        pytest.param("--encoder nbow", TORCHRUN, marks=pytest.mark.thorough),
        ("--encoder selfatt --dropout 0 --chunk 6", ("-c", TWO)),
    ],
)
def test_two_processes_have_the_loss_of_one_with_the_whole_batch(options, launcher, corpus, tmp_path):
    train = ["train", "--corpus", str(corpus), *options.split(), *SETTINGS]
    assert main([*train, "--run", str(tmp_path / "one")]) == 0
    done = train_with_two(*train, "--run", str(tmp_path / "two"), launcher=launcher)
    assert done.returncode == 0, done.stderr
    one, two = (figures(tmp_path / name) for name in ("one", "two"))
    assert len(two) == 2
    # `torchrun` may stop the first process when another ends, so none leaves while the first one writes.
    assert [line for line in done.stderr.splitlines() if line in ("written", "left")] in (
        [],
        ["written"] * 2 + ["left"] * 2,
    )
    for expected, found in zip(one, two, strict=True):
        assert found == pytest.approx(expected, abs=1e-4)
