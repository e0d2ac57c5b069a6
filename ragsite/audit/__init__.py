"""The audit log: who signed in, shared, deleted, exported, or changed how the site is set up."""
