"""Build the bundled embedding model from published weights."""
