"""Compounds: names that are two words written together."""

from tests.unit.training.conftest import write_rows
from training.__main__ import main
from training.corpus.compounds import learn_compounds
from training.corpus.rows import Row

FILLER = " ".join(f"file_{n} name_{n} out_{n} put_{n}" for n in range(10))


def rows(code: str, count: int, docstring: str = "do it") -> list[Row]:
    return [
        Row("a/b", f"package{n % 3}", "x", "f", "f", "go", f"{code} {FILLER}", docstring, "")
        for n in range(count)
    ]


def test_a_compound_also_occurs_as_two_words_in_code():
    found = learn_compounds([*rows("filename", 60), *rows("fileName", 10)])
    assert found == [("filename", "file", "name")]


def test_a_compound_may_occur_as_two_words_in_documentation():
    assert learn_compounds(rows("filename", 60, "the file name")) == [("filename", "file", "name")]


def test_a_word_that_is_rarely_split_is_not_a_compound():
    assert learn_compounds([*rows("output", 200), *rows("out_put", 9)]) == []


def test_a_compound_of_only_one_package_is_not_learned():
    own = [Row("a/b", "one", "x", "f", "f", "go", f"filename fileName {FILLER}", "do it", "")] * 60
    assert learn_compounds(own) == []


def test_the_command_writes_the_file_that_the_index_reads(tmp_path, capsys):
    write_rows(tmp_path / "rows" / "go.train.jsonl.zst", rows("filename fileName", 60))
    assert main(["corpus", "compounds", "--corpus", str(tmp_path), "--out", str(tmp_path / "out.txt")]) == 0
    assert (tmp_path / "out.txt").read_text().splitlines()[1:] == ["filename file name"]
    assert "1 compounds" in capsys.readouterr().out
