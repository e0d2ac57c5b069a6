"""Keys of model providers, encrypted at rest with a key derived from the site's own secret."""

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
    """Derive the key from the secret under a purpose of its own, so that no other use of the secret shares it."""
    digest = hashlib.sha256(_PURPOSE + b"\0" + secret_key.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))


def encrypt(text: str) -> bytes:
    """Return the text encrypted and authenticated; an empty text gives empty bytes."""
    return _fernet(settings.SECRET_KEY).encrypt(text.encode()) if text else b""


def decrypt(data: bytes) -> str:
    """Return what `encrypt` was given; raises `Unauthorized` when the site's secret has changed since."""
    if not data:
        return ""
    try:
        return _fernet(settings.SECRET_KEY).decrypt(data).decode()
    except InvalidToken:
        raise Unauthorized(_("The stored key can't be read since the site's secret changed; enter it again.")) from None


def is_key(text: str) -> bool:
    """Tell whether a text can be sent as a key, or is empty: what is copied along, such as a line's end, can't."""
    return text.isascii() and text.isprintable()
