"""Mails, and web pages saved as mails."""
