"""Backups of a whole site in one file, and restoring them."""
