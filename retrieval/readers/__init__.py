"""The readers of the site: which there are, which one is in use, trying another beside it."""
