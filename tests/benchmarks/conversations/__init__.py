"""The measurements of `manage.py bench_pipeline`, in a separate database."""
