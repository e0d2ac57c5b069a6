"""Whether passages answer a question: what the reader makes of them, and what their words do."""
