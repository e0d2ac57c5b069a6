"""The chat's admin: records, versioned prompts, and setting up and testing models."""

from conversations.admin import assistants, memory, profiles, prompts, records, saved_prompts, sessions, users

__all__ = ["assistants", "memory", "profiles", "prompts", "records", "saved_prompts", "sessions", "users"]
