from benchmarks.int8 import losses


def result(**averages: float) -> dict:
    return {"systems": {"default": {metric: {"average": value} for metric, value in averages.items()}}}


def test_a_loss_is_what_int8_has_less():
    found = losses(
        result(ndcg_all=0.6, ndcg_within=0.8, recall_at_10=0.7),
        result(ndcg_all=0.59, ndcg_within=0.80004, recall_at_10=0.7),
    )
    assert found == {"default": {"ndcg_all": 0.01, "ndcg_within": -0.0, "recall_at_10": 0.0}}
