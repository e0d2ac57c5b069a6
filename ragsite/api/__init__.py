"""What all API endpoints share: errors, fields, schema, limits."""
