"""The playground, and the pages of question sets and their runs."""
