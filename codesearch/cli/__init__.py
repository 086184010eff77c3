"""The `codesearch` command: one thin module for each command. Only this package prints."""
