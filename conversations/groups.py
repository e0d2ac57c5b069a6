"""The channel layer's groups: their names, and what the pages of a session are told."""

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction


def session_group(session_id: int) -> str:
    """Return the group of the pages that show a session."""
    return f"session.{session_id}"


def message_group(message_id: int) -> str:
    """Return the group of the processes that follow an answer."""
    return f"message.{message_id}"


def tell_pages(session_id: int, news: str, **more: int) -> None:
    """Tell the open pages of a session, once what was written is committed.

    `news` is `session.changed` (its title, or its place in the list), `session.deleted`, `session.restored`,
    `session.scope` (what it asks, or who answers), or `session.file` (`document_id` was put in, is read anew, or is
    gone).
    """
    told = session_group(session_id), {"type": news, **more}
    transaction.on_commit(lambda: async_to_sync(get_channel_layer().group_send)(*told), robust=True)
