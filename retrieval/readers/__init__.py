"""The site's readers: listing them, and trying one against the one in use."""
