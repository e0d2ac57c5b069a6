"""Evaluation: scoring retrieval against questions with known right passages."""
