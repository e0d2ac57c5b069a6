"""What `manage.py bench_multihop` measures: whether all passages are found for questions that need several searches."""
