"""The chat in the admin: records to read, prompts to version, models to set up and try."""

from conversations.admin import profiles, prompts, records, sessions

__all__ = ["profiles", "prompts", "records", "sessions"]
