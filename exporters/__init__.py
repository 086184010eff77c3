"""Trained weights -> the ONNX bundle that the product loads."""
