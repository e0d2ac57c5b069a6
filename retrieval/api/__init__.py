"""The search API."""
