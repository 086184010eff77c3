"""Build an index: compare a folder with it, parse and embed what changed, and write a segment."""
