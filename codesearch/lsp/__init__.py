"""A language server: symbols by meaning, outlines and similar code in editors."""
