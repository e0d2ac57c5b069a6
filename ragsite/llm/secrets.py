"""Encryption at rest, with a key derived from the site's secret key."""

import base64
import hashlib
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.utils.translation import gettext as _

from ragsite.llm.errors import Unauthorized

_PURPOSE = b"ragsite.conversations.secrets"


@lru_cache(maxsize=4)
def _fernet(secret_key: str) -> Fernet:
    """Derive the key from the secret key and a purpose, so that no other use of the secret key shares it."""
    digest = hashlib.sha256(_PURPOSE + b"\0" + secret_key.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))


def encrypt(text: str) -> bytes:
    """Return the text encrypted and authenticated; empty bytes for an empty text."""
    return _fernet(settings.SECRET_KEY).encrypt(text.encode()) if text else b""


def decrypt(data: bytes) -> str:
    """Return the decrypted text; raises `Unauthorized` if the site's secret key has changed."""
    if not data:
        return ""
    try:
        return _fernet(settings.SECRET_KEY).decrypt(data).decode()
    except InvalidToken:
        message = _(
            "The stored API key can't be decrypted because the site's secret key has changed. Enter the API key again."
        )
        raise Unauthorized(message) from None


def is_key(text: str) -> bool:
    """Return whether a text is empty or can be sent as a key; one with a line break, for example, can't."""
    return text.isascii() and text.isprintable()
