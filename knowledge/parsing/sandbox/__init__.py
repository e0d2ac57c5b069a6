"""Runs parsers in their own processes, within limits."""
