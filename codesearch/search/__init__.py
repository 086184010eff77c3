"""A query -> ranked answers: lexical, semantic, fused."""
