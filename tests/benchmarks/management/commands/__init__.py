"""`manage.py bench…`."""
