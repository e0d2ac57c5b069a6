"""Invitations by link: to the site, and to a knowledge base."""
