"""Searching for programs."""
