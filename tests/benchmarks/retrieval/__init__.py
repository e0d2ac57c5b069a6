"""Benchmarks: search compared with alternatives, ingestion with the bare embedder, and parallel workers.

They are run by `manage.py bench`, in separate databases (see `scratch`), never in the site's.
"""
