"""The chat in the admin: records to read, prompts to version, models to set up and try."""

from conversations.admin import assistants, memory, profiles, prompts, records, saved_prompts, sessions, users

__all__ = ["assistants", "memory", "profiles", "prompts", "records", "saved_prompts", "sessions", "users"]
