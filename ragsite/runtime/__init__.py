"""Running the site: its processes, its embedded database, its web server."""
