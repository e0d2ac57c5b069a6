"""The API of knowledge bases and documents."""
