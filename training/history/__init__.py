"""Commits of git repositories -> questions with the functions that they changed."""
