"""Documents on disk: a writer and a reader for each structure."""
