"""The architectures: token ids and mask -> unit vectors."""
