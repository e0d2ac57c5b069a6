"""The common parts of API endpoints: errors, fields, schema and limits."""
