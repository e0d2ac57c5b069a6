"""Settings that administrators change while the site runs."""
