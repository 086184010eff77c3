"""Files -> documents: the walk, the table of languages, extraction."""
