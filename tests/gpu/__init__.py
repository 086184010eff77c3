"""Tests of a CUDA device: `make test-gpu`."""
