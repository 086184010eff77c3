"""Text -> vectors: the tokenizer, the model bundle, ONNX Runtime."""
