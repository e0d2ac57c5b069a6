"""Hears what `knowledge` announces, and indexes."""
