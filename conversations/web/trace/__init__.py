"""A turn's trace as the page shows it."""
