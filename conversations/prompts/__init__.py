"""Prompts and models: templates and their versions, composing messages within a model's window, and endpoints."""
