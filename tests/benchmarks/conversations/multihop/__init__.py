"""The measurements of `manage.py bench_multihop`: retrieval for questions that need several searches."""
