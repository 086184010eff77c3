"""The order of several definitions with the name in the query."""

import pytest

from codesearch.config import RankConfig
from codesearch.search.searcher import Searcher
from codesearch.store.segments import IndexReader
from tests.conftest import search

TREE = {
    "http/message.py": "class Message:\n    def queue(self):\n        '''Put the queue of this queue into a queue.'''\n"
    "        queue = self.queues.queue\n        return queue\n",
    "tests/test_queue.py": "class queue:\n    def test_queue(self):\n        assert queue(queue).queue\n",
    "queue.py": "import heapq\nimport os\n\nLIMITS = heapq.nsmallest\nheap = []\nfor size in os.environ:\n"
    "    heapq.heappush(heap, size)\nprint(heap)\nos.chdir('/')\nheap.clear()\n",
    "counting.py": "class Counter:\n    def add(self, item):\n        self.items[item] += 1\n",
    "words.py": "class OrderedWords:\n    def __init__(self, words):\n        self.first = words\n\n"
    "    def words_ordered(self):\n        ordered = self.words.ordered\n        return ordered(words=ordered)\n",
    "tests/helpers.py": "class Counter:\n    '''A counter that counts like a counter.'''\n\n"
    "    def counter(self):\n        return self.counter\n",
}


@pytest.fixture
def index(index_of) -> IndexReader:
    return index_of(TREE)


def paths(index: IndexReader, query: str) -> list[str]:
    return [hit.path for hit in search(Searcher([index], None), query, mode="lexical")]


def test_a_module_comes_before_a_method_and_a_test_with_its_name(index):
    assert paths(index, "queue")[:3] == ["queue.py", "http/message.py", "tests/test_queue.py"]


def test_a_class_comes_before_a_class_of_tests_with_its_name(index):
    assert paths(index, "Counter")[:2] == ["counting.py", "tests/helpers.py"]
    assert paths(index, "counter")[:2] == ["counting.py", "tests/helpers.py"]


def test_a_query_in_upper_and_lower_case_prefers_this_spelling(index):
    hits = search(Searcher([index], None), "Queue", mode="lexical")
    assert {hit.signals["name"] for hit in hits if hit.name == "queue"} == {0.5}


@pytest.mark.parametrize("query", ["ordered words", "Ordered Words"])
def test_the_words_of_a_name_find_it(index, query):
    hits = search(Searcher([index], None), query, mode="lexical")
    assert [(hit.name, hit.signals["name"]) for hit in hits][:2] == [
        ("OrderedWords", pytest.approx(0.2)),
        ("words_ordered", 0),
    ]
    without = search(Searcher([index], None, RankConfig(name_weight=0)), query, 1, mode="lexical")
    assert without[0].name == "words_ordered"


def test_the_words_of_a_name_in_a_longer_query_are_no_name(index):
    hits = search(Searcher([index], None), "count ordered words", mode="lexical")
    assert {hit.signals["name"] for hit in hits} == {0}


@pytest.mark.parametrize("query", ["OrderdWords", "ordered_wrds"])
def test_a_name_with_a_wrong_letter_is_found(index, query):
    first = search(Searcher([index], None), query, mode="lexical")[0]
    assert (first.name, first.signals["name"]) == ("OrderedWords", pytest.approx(0.2))
    assert search(Searcher([index], None), "OtherWords", mode="lexical")[0].signals["name"] == 0
