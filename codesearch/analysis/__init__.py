"""Text -> the terms of keyword search. Documents and queries have the same forms of terms."""
