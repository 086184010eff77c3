"""Functions that do the same."""
