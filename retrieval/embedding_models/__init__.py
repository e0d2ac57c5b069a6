"""The site's embedding models: listing, adding, trying, switching and switching back."""
