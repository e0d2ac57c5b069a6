"""Assistants: stored configurations of how questions are answered, of which several stand side by side."""
