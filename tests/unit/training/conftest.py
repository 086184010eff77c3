import random
from pathlib import Path

import pytest
import torch

from training import checkpoint
from training.batches import SourceDataset
from training.bpe import train_tokenizer as train_bpe
from training.config import Source
from training.corpus.rows import CsnRow, Row, to_line, write_lines
from training.samples import texts_of_row

WORDS = "red green blue open close read write file line list map tree sort find".split()


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Use one thread: the tensors of these tests are too small for several."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session", autouse=True)
def plot_curve():
    """Draw no plot after each epoch, which takes longer than the epoch; return the function that draws it."""
    with pytest.MonkeyPatch.context() as patch:
        drawn = checkpoint.plot_curve
        patch.setattr(checkpoint, "plot_curve", lambda run: None)
        yield drawn


@pytest.fixture(scope="session")
def synthetic_rows():
    """Return a function that makes pairs. Queries and code share no words, so only training can match them."""

    def make(count, seed, languages=("go",), **fields):
        chance = random.Random(seed)
        rows = []
        for number in range(count):
            chosen = chance.sample(range(len(WORDS)), 4)
            name, language = f"n{number % 7}", languages[number % len(languages)]
            code = " ".join(f"{WORDS[index][::-1]}q" for index in chosen)
            asked = " ".join(WORDS[index] for index in chosen)
            rows.append(Row("a/b", "b", "", name, name, language, code, asked, "", **fields))
        return rows

    return make


def train_tokenizer(rows, vocabulary_size):
    """Learn one vocabulary over the query and document texts of rows."""
    return train_bpe((text for row in rows for text in texts_of_row(row)), vocabulary_size)


def write_rows(path, rows):
    """Write rows to a new file."""
    write_lines(path, (to_line(CsnRow(row)) for row in rows))


def part(samples, name="documentation", **fields):
    """Return samples as those of a source."""
    return SourceDataset(Source(name, Path(name), **fields), samples)


def documentation(corpus):
    """Return the sources of a run that learns only from a corpus."""
    return [Source("documentation", corpus)]


@pytest.fixture
def corpus(tmp_path, synthetic_rows):
    """Return a corpus folder with one language and two partitions."""
    for partition, count in (("train", 60), ("valid", 20)):
        rows = synthetic_rows(count, len(partition), partition=partition)
        write_rows(tmp_path / "corpus" / "rows" / f"go.{partition}.jsonl.zst", rows)
    return tmp_path / "corpus"
