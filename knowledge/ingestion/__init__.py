"""From a stored file to a searchable document: workers, the order of their work, and what they store."""
