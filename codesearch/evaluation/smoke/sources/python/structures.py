"""Containers and algorithms over them."""

import functools
import heapq
from collections import OrderedDict, defaultdict, deque


class LRUCache:
    """Keeps the entries used last and forgets the others."""

    def __init__(self, capacity):
        if capacity < 1:
            raise ValueError("capacity must be positive")
        self.capacity = capacity
        self.entries = OrderedDict()

    def get(self, key, default=None):
        """Look a key up and make it the one used last."""
        if key not in self.entries:
            return default
        self.entries.move_to_end(key)
        return self.entries[key]

    def put(self, key, value):
        """Store a value; the entry that was not used for longest makes room."""
        self.entries[key] = value
        self.entries.move_to_end(key)
        if len(self.entries) > self.capacity:
            self.entries.popitem(last=False)


class Trie:
    """A tree of letters over a vocabulary; `count` words end in a node or below it."""

    def __init__(self, words=()):
        self.children = {}
        self.is_word = False
        self.count = 0
        for word in words:
            self.insert(word)

    def insert(self, word):
        node = self
        for letter in word:
            node = node.children.setdefault(letter, Trie())
            node.count += 1
        node.is_word = True

    def complete(self, prefix):
        """List all words that begin with a prefix: what an autocomplete box shows."""
        node = self
        for letter in prefix:
            if letter not in node.children:
                return []
            node = node.children[letter]
        found = [prefix] if node.is_word else []
        for letter, child in sorted(node.children.items()):
            found += [prefix + letter + rest for rest in child.complete("")]
        return found


class PriorityQueue:
    """Serves the most urgent job first; equal ones in the order they came."""

    def __init__(self):
        self.heap = []
        self.serial = 0
        self.cancelled = set()
        self.size = 0

    def enqueue(self, job, priority=0):
        """Add a job to the queue."""
        heapq.heappush(self.heap, (-priority, self.serial, job))
        self.serial += 1
        self.size += 1
        return self.serial - 1

    def dequeue(self):
        """Take the next job out of the queue."""
        while self.heap:
            _, serial, job = heapq.heappop(self.heap)
            if serial not in self.cancelled:
                self.size -= 1
                return job
        raise IndexError("the queue is empty")


def shortest_path(graph, start, goal):
    """Breadth-first search: a path with the fewest edges, or None."""
    came_from = {start: None}
    frontier = deque([start])
    while frontier:
        node = frontier.popleft()
        if node == goal:
            path = []
            while node is not None:
                path.append(node)
                node = came_from[node]
            return path[::-1]
        for neighbour in graph.get(node, ()):
            if neighbour not in came_from:
                came_from[neighbour] = node
                frontier.append(neighbour)
    return None


def dijkstra(graph, source):
    """Cheapest cost from a source to every node of a weighted graph."""
    cost = {source: 0}
    queue = [(0, source)]
    while queue:
        so_far, node = heapq.heappop(queue)
        if so_far > cost[node]:
            continue
        for neighbour, weight in graph.get(node, {}).items():
            total = so_far + weight
            if total < cost.get(neighbour, float("inf")):
                cost[neighbour] = total
                heapq.heappush(queue, (total, neighbour))
    return cost


def topological_order(dependencies):
    """Sort tasks so that each one comes after those it depends on; a cycle is a ValueError."""
    order, state = [], {}

    def visit(task):
        if state.get(task) == "open":
            raise ValueError(f"{task} depends on itself")
        if task not in state:
            state[task] = "open"
            for needed in dependencies.get(task, ()):
                visit(needed)
            state[task] = "done"
            order.append(task)

    for task in dependencies:
        visit(task)
    return order


def chunked(iterable, size):
    """Yield lists of at most `size` elements each."""
    chunk = []
    for element in iterable:
        chunk.append(element)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def group_by(items, key):
    """Sort elements into lists by what a key function says of them."""
    groups = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return dict(groups)


def unique(items):
    """Drop repeated elements and keep the order of the first ones."""
    seen = set()
    kept = []
    for item in items:
        if item not in seen:
            seen.add(item)
            kept.append(item)
    return kept


def memoize(function):
    """Remember the results of a pure function by its arguments."""
    results = {}

    @functools.wraps(function)
    def wrapper(*args):
        if args not in results:
            results[args] = function(*args)
        return results[args]

    return wrapper


def bisect_position(ordered, wanted):
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low
