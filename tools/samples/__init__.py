"""Generate the sample documents of a new site."""
