"""The audit log: sign-ins, sharing, deletions, exports, and changes to the site's configuration."""
