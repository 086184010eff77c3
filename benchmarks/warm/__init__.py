"""One driver per peer, run by the interpreter of the peer's environment; see `benchmarks.peers`.

`build ROOT STORE` indexes, `query STORE WORDS` answers once, `warm STORE` reads a JSON list of queries on stdin,
asks each after a round that is not counted, and prints the milliseconds of each as JSON.
"""
