"""Embedding models, in the process or behind an endpoint."""
