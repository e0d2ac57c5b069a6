"""Clients for chat and embedding models. It imports no app."""
