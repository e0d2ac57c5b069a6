"""Measuring: search beside what others do, ingestion beside the bare embedder, workers beside each other.

Reached by `manage.py bench`. Everything happens in databases of its own (see `scratch`), never in the site's.
"""
