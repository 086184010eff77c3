"""HTTP on loopback: a JSON API over the engine, and the files of a page."""
