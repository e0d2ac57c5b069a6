"""A user's own data: export and deletion."""
