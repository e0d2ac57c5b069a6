"""Writing the answer: a model's dialects to blocks, or sentences quoted where there is no model."""
