"""Views of knowledge bases and documents."""
