"""Pictures: the words and ruling lines in them, and pictures that are documents of their own."""
