"""Text to ids of subtokens, the same in training and search."""

import json
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from tokenizers import Tokenizer

from codesearch.errors import ModelBundleError
from codesearch.parsing.identifiers import subtokens
from codesearch.text.bundle import SHIPPED
from codesearch.text.tokenizer import PAD_ID, SubtokenTokenizer, document_text, join_fields
from codesearch.types import Document
from training.bpe import train_tokenizer

CORPUS = ["read the file", "readFile writeFile", "write to a file", "parse_json parseJSON"] * 3


@pytest.fixture(scope="module")
def tokenizer() -> SubtokenTokenizer:
    return train_tokenizer(CORPUS, 100)


def encoded(tokenizer: SubtokenTokenizer, text: str, max_tokens: int = 100) -> list[int]:
    return tokenizer.encode(text, max_tokens).tolist()


def test_an_identifier_has_the_ids_of_its_words(tokenizer):
    assert (
        encoded(tokenizer, "readFile") == encoded(tokenizer, "read_file") == encoded(tokenizer, "Read FILE")
    )


def test_a_frequent_word_is_one_token(tokenizer):
    assert [len(encoded(tokenizer, word)) for word in ("file", "read", "write", "parse", "json")] == [1] * 5


def test_a_rare_word_is_split_into_pieces(tokenizer):
    pieces = encoded(tokenizer, "filer")
    assert len(pieces) > 1
    assert PAD_ID not in pieces


def test_text_is_cut_to_its_first_tokens(tokenizer):
    whole = encoded(tokenizer, "read the file write to a file")
    assert encoded(tokenizer, "read the file write to a file", 3) == whole[:3]
    assert encoded(tokenizer, "read", 0) == []


def test_text_without_words_has_no_ids(tokenizer):
    ids = tokenizer.encode("-- ?! {}", 10)
    assert (ids.dtype, ids.tolist()) == (np.uint32, [])


def test_unknown_letters_do_not_fail_or_become_padding(tokenizer):
    ids = encoded(tokenizer, "данные 数据 ñ")
    assert ids
    assert PAD_ID not in ids


def test_a_saved_tokenizer_gives_the_same_ids(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "tokenizer.json")
    again = SubtokenTokenizer.load(tmp_path / "tokenizer.json")
    text = "parseJSON from the file, писать"
    assert encoded(again, text) == encoded(tokenizer, text)
    assert again.vocabulary_size == tokenizer.vocabulary_size


def test_words_of_the_vocabulary_have_the_ids_of_the_library():
    path = SHIPPED / "tokenizer.json"
    library, own = Tokenizer.from_file(str(path)), SubtokenTokenizer.load(path)
    words = [word for word in library.get_vocab() if word.isalnum() and word.isascii()]
    assert len(words) > 15_000
    assert [encoded(own, word) for word in words] == [
        [library.token_to_id(part) for part in subtokens(word)] for word in words
    ]
    assert "_tokenizer" not in vars(own)  # The library was not loaded for these words.
    assert encoded(own, "qzxvw") == library.encode("qzxvw").ids


def test_a_few_words_are_found_in_the_text_of_the_vocabulary_and_have_its_ids(tmp_path):
    state = json.loads((SHIPPED / "tokenizer.json").read_text())
    ids = state["model"]["vocab"]
    few = [*list(ids)[:: len(ids) // 8], "merges", "vocab", "qzxv", "größe"]
    for indent in (None, 2):
        (tmp_path / "tokenizer.json").write_text(json.dumps(state, indent=indent, ensure_ascii=False))
        words = SubtokenTokenizer.load(tmp_path / "tokenizer.json")._words
        assert [words.get(word) for word in few] == [ids.get(word) for word in few]


def test_a_tokenizer_can_be_pickled():
    own = SubtokenTokenizer.load(SHIPPED / "tokenizer.json")
    crossed = pickle.loads(pickle.dumps(own))
    assert encoded(crossed, "read qzxvw") == encoded(own, "read qzxvw")


def test_the_vocabulary_has_at_most_the_size_asked_for():
    assert train_tokenizer(CORPUS, 30).vocabulary_size == 30


@pytest.mark.parametrize("content", [b"", b"{}", b"\x00\xff"])
def test_an_invalid_tokenizer_file_is_named(tmp_path, content):
    (tmp_path / "tokenizer.json").write_bytes(content)
    with pytest.raises(
        ModelBundleError, match=r"tokenizer\.json: not a tokenizer .*install or export the model again"
    ):
        SubtokenTokenizer.load(tmp_path / "tokenizer.json")


@pytest.mark.parametrize(
    ("path", "place"),
    [("p", "p"), ("src/net/session.test.go", "net session.test"), ("a/b/Makefile", "b Makefile")],
)
def test_the_text_of_a_document_is_place_name_context_docstring_and_code(path, place):
    described = (path, "go", "method", "n", "C.n", "sig", "says", 1, 2, 2)
    document = Document(*described, code="code()", start_byte=3, end_byte=4)
    assert document_text(document) == f"{place} C.n\nsays\ncode()"
    assert document_text(replace(document, context="A shop.")) == f"{place} C.n\nA shop.\nsays\ncode()"


def test_a_long_docstring_leaves_room_for_the_code():
    assert join_fields("n", "d" * 10_000, "code") == "n\n" + "d" * 600 + "\ncode"


def test_the_same_texts_give_the_same_vocabulary(tmp_path):
    """Several processes train, because the hash map of the trainer has a different order in each."""
    script = (
        "import sys; from pathlib import Path; from training.bpe import train_tokenizer\n"
        "texts = [' '.join(a + b + c for a in 'rstl' for b in 'aeiou') for c in 'nmkd']\n"
        "train_tokenizer(texts, 60).save(Path(sys.argv[1]))"
    )
    for name in "abc":
        subprocess.run([sys.executable, "-c", script, str(tmp_path / name)], check=True)
    assert len({(tmp_path / name).read_text() for name in "abc"}) == 1


def test_a_document_begins_with_its_language_if_the_vocabulary_has_it(tmp_path):
    own = train_tokenizer(CORPUS, 100)
    plain = own.encode_document("read file", 9, "go").tolist()
    assert plain == encoded(own, "read file")
    own.add_languages(["go", "php"])
    assert own.language_id("php") == own.language_id("go") + 1
    assert own.encode_document("read file", 1, "go").tolist() == [own.language_id("go"), plain[0]]
    assert own.encode_document("read file", 9, "ruby").tolist() == plain
