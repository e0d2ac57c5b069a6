"""Turns stored files into searchable documents: workers, the order of their work, and what they store."""
