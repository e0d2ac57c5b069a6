"""The evaluation API: question sets and their runs."""
