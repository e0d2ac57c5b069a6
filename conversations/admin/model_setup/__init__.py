"""Connecting a model: its address, what it offers, what for, a test, and the profiles that come of it."""
