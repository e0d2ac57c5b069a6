"""The cache and the channel layer of sites with Redis."""
