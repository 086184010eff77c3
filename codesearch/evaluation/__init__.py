"""Judged queries -> how well the product's own path answers them."""
