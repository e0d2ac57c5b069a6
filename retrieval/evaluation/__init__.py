"""Scoring retrieval against questions whose right passages are known."""
