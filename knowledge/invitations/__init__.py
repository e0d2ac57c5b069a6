"""Invitation links to the site and to knowledge bases."""
