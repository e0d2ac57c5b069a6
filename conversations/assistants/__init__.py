"""Assistants: stored configurations for answering questions; a site can have several."""
