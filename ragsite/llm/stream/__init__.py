"""Parsing of streamed replies: server-sent events, thinking, JSON, and incomplete characters."""
