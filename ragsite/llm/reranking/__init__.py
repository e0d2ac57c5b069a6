"""Passages scored for a question, by a model in the process or an endpoint."""
