"""Judged queries -> how well the product answers them."""
