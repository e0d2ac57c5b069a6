"""Programs that make what the repository holds ready-made; the site needs none of them."""
