"""A folder of source files -> a committed index: plan, parse, embed, write, commit."""
