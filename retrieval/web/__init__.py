"""Pages of search: the playground, question sets and their runs."""
