"""Offline semantic search over local codebases."""

__version__ = "0.1.0"
