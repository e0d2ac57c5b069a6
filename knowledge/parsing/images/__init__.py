"""Pictures: the words and ruling lines in them, and pictures as documents."""
