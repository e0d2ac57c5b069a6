"""The chat's API: REST endpoints and streams."""
