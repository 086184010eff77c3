"""A folder of sources -> a committed index: plan, parse, embed, write, commit."""
