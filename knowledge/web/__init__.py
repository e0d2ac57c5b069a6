"""Pages of knowledge bases and documents."""
