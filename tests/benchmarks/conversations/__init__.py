"""What `manage.py bench_pipeline` measures, in a database of its own."""
