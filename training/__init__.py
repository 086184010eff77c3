"""Corpus pipeline and joint encoders: source packages -> documented functions -> trained weights."""
