"""Clients for chat models, embedding models and rerankers. Imports no app."""
