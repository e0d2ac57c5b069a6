"""The chat for programs: REST endpoints and streams."""
