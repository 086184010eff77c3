"""Milvus: a collection of documents that many workers fill and many processes search."""
