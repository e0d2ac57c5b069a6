"""The groups of the channel layer, and notifications to the open pages of a session."""

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction


def session_group(session_id: int) -> str:
    """Return the group of the open pages of a session."""
    return f"session.{session_id}"


def owner_group(user_id: int) -> str:
    """Return the group of the open pages of a user's sessions."""
    return f"owner.{user_id}"


def message_group(message_id: int) -> str:
    """Return the group of the processes that stream an answer."""
    return f"message.{message_id}"


def notify_pages(session_id: int, event: str, **more: int) -> None:
    """Notify the open pages of a session once the transaction is committed.

    `event` is `session.changed` (title or place in the list), `session.deleted`, `session.restored`, `session.scope`
    (scope, assistant or model) or `session.file` (the file `document_id` was attached, processed again or removed).
    """
    group, message = session_group(session_id), {"type": event, **more}
    transaction.on_commit(lambda: async_to_sync(get_channel_layer().group_send)(group, message), robust=True)
