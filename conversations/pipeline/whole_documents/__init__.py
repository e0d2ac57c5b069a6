"""Answering from whole documents: which are meant, their sections, notes on them, and what is quoted of them."""
