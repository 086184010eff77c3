"""Text: words and terms of documents and queries, token ids, and the model that turns them into vectors."""
