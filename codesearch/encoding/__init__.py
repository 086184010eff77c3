"""Text -> vectors, with a tokenizer and a model bundle, by ONNX Runtime or numpy."""
