"""Many documents at once: filtering and sorting them, bulk actions, and uploads of many files."""
