"""Template tags of retrieval."""
