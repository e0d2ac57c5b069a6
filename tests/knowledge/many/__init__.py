"""Many documents at once."""
