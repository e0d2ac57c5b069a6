"""Assistants: what they say, who may use them, how they answer, and how they travel."""
