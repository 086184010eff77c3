"""Results in the form of CodeSearchNet's challenge."""

from training.predictions import read_predictions, write_predictions

URL = f"https://github.com/o/n/blob/{'a' * 40}/src/x.py#L3-L9"


def test_predictions_are_read_as_they_were_written(tmp_path):
    run = {("python", "a, b"): [URL, f"{URL}0"], ("go", 'say "x"'): [URL]}
    write_predictions(tmp_path / "p.csv", run, {("python", "a, b"): "A, b"}, {URL: "f"})
    assert read_predictions(tmp_path / "p.csv") == run
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert lines[:2] == ["query,language,identifier,url", f'"A, b",python,f,{URL}']


def test_a_document_predicted_twice_keeps_its_first_rank(tmp_path):
    rows = "query,language,identifier,url\nq,go,,u1\nq,Go,,u2\nq,go,,u1\n"
    path = tmp_path / "p.csv"
    path.write_text(rows)
    assert read_predictions(path) == {("go", "q"): ["u1", "u2"]}
