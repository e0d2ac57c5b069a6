"""Answering from the whole of documents: which are meant, their sections, notes on them, and outlines without a model."""
