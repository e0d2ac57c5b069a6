"""Signing in and tokens, and how often either may be guessed."""
