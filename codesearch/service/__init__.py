"""A process that answers for others. `client` asks it; `server` runs command lines."""
