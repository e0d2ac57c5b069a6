"""Parsers run in processes of their own, within limits."""
