"""Texts to vectors, by a model in the process or an endpoint."""
