"""Question sets and their runs for programs."""
