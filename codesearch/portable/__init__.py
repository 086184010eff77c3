"""Indexes -> files that other programs read."""
