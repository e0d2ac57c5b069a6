"""The sign-in that a socket was opened with: a page that stays open must not outlive it."""

import hashlib
from importlib import import_module
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib import auth
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest


def group(session_key: str) -> str:
    """Return the channel-layer group of the sockets that a sign-in has opened; it doesn't tell the key."""
    return f"sign-in.{hashlib.sha256(session_key.encode()).hexdigest()}"


def holds(user: User, session_key: str) -> bool:
    """Tell whether a sign-in is the user's as ever: neither ended nor expired, the user active, the password the same.

    Asks the database.
    """
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    return bool(auth.get_user(request) == user)


def group_of_user(user_id: int) -> str:
    """Return the channel-layer group of a user's sockets."""
    return f"user.{user_id}"


def close_sockets(sender: Any, request: HttpRequest, **kwargs: Any) -> None:
    """Close what a sign-in has opened; a receiver of `user_logged_out`."""
    if key := request.session.session_key:
        async_to_sync(get_channel_layer().group_send)(group(key), {"type": "signed.out"})


def check_sockets(sender: Any, instance: User, **kwargs: Any) -> None:
    """Have a user's sockets look whether they may stay, once what became of the user is stored; a receiver of
    `post_save` and `post_delete`."""
    if kwargs.get("created") or kwargs.get("update_fields") == {"last_login"}:
        return
    told = group_of_user(instance.pk), {"type": "user.changed"}
    transaction.on_commit(lambda: async_to_sync(get_channel_layer().group_send)(*told), robust=True)
