"""Mails, and web pages saved as such."""
