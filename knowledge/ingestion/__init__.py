"""From a stored file to a searchable document: who works on what, in which order, and what is kept."""
