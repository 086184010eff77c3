"""The table of encoders."""

import pytest

pytest.importorskip("torch")

from benchmarks.encoders import encoder_table

ROW = {
    "parameters": 16_940_000,
    "documents_per_s": 20_000,
    "mrr_999": {"average": 0.7812},
    "ndcg_all": None,
    "pairs": 847_882,
}


def test_the_average_of_a_published_row_is_the_mean_of_its_languages():
    table = encoder_table({"nbow": {**ROW, "averaged": 0, "epochs": 2.0}})
    (row,) = (line for line in table.splitlines() if line.startswith("| nbow, published"))
    assert row.endswith("| .518 | .164 | CodeSearchNet, 2M pairs |")


def test_a_row_shows_the_epochs_of_a_run_or_the_number_of_averaged_runs():
    table = encoder_table(
        {"one": {**ROW, "averaged": 0, "epochs": 2.0}, "six": {**ROW, "averaged": 6, "epochs": 0}}
    )
    *_, one, six = table.splitlines()
    assert one.endswith("| 847,882 pairs, 2 epochs |")
    assert six.endswith("| 847,882 pairs, the mean of 6 runs |")
    assert "| .781 |" in six
