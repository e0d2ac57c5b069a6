"""Clients for chat models, embedding models and rerankers. It imports no app."""
