"""All that is on disk: segments, the manifest that names them, and what a query sees of them."""
