"""Models that score passages for a question, in the process or behind an endpoint."""
