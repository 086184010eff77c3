"""Measurements behind the documents: each script prints a table and writes a JSON to `results/`."""
