"""The commits of a git repository: searched by message, names and paths, and listed by the definition they changed."""
