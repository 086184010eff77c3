"""The structures on disk, with one writer and one reader for each."""
