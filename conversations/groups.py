"""The names of the channel layer's groups."""


def session_group(session_id: int) -> str:
    """Return the group of the pages that show a session."""
    return f"session.{session_id}"


def message_group(message_id: int) -> str:
    """Return the group of the processes that follow an answer."""
    return f"message.{message_id}"
