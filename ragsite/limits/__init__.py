"""Limits on use: questions per day, tokens per month, storage."""
