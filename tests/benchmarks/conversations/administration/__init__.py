"""The admin's lists over a site that has been talked to for years: filled, opened as staff would, and timed."""
