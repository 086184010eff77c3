"""The `codesearch` command: one thin module a command. Only this package prints."""
