"""Programs that generate files in the repository; the site doesn't need them."""
