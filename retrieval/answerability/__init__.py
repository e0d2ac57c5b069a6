"""Deciding whether passages answer a question, from the reader's scores and the words they share."""
