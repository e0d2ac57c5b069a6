"""Books (epub)."""
