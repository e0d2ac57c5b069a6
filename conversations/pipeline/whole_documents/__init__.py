"""Answers from whole documents: which documents a question means, their sections, notes on them, and quotes."""
