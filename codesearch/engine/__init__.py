"""The engine: the one object that every surface calls."""
