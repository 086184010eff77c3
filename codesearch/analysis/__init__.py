"""Text -> the terms that keywords match: documents and queries in the same forms."""
