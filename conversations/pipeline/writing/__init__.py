"""Writing the answer: converting a model's output to blocks, or quoting sentences without a model."""
