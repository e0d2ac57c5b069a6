"""The chat in the admin: records to read, prompts to version, models to set up and try."""

from conversations.admin import memory, profiles, prompts, records, sessions, users

__all__ = ["memory", "profiles", "prompts", "records", "sessions", "users"]
