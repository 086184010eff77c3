"""A cross-encoder that reorders the first results of the product: its questions and its training."""
