"""Suites that judge encoders alone, as published work does."""
