"""A process that answers for others. `address` and `client` import next to nothing; `server` runs command lines."""
