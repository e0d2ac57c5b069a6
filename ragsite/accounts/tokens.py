"""Create API tokens and authenticate requests with them."""

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from ragsite.accounts.lockout import Guess, TooManyGuesses, address_of
from ragsite.models import ApiToken

KEYWORD = "Token"


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def create_token(user: User, name: str) -> str:
    """Create a token for the user and return its key, which is not stored."""
    key = secrets.token_urlsafe(32)
    ApiToken.objects.create(user=user, name=name, digest=_digest(key))
    return key


def token_for_header(header: bytes, address: str) -> ApiToken | None:
    """Return the token of an `Authorization` header, or None if it has none.

    `Token <key>` and, for OpenAI clients, `Bearer <key>` are accepted. Raises `AuthenticationFailed` for a key that is
    unknown or whose user is inactive, and `Throttled` after too many of these from one address. Valid keys are never
    throttled: nobody can guess 256 bits, and a program with a revoked key may share its address with many others.
    """
    parts = header.split()
    if len(parts) != 2 or parts[0].lower() not in (b"token", b"bearer"):
        return None
    digest = _digest(parts[1].decode("latin-1"))
    token = ApiToken.objects.select_related("user").filter(digest=digest).first()
    if token is None or not token.user.is_active:
        guess = Guess("token", digest, address)
        try:
            guess.begin()
        except TooManyGuesses as refusal:
            raise Throttled(refusal.wait) from None
        guess.failed()
        raise AuthenticationFailed(_("This token is not valid."), code="invalid_token")
    # Updated at most once a minute, so that not every request writes to the database.
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > timedelta(minutes=1):
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Token <key>` for DRF."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the user and the token, or None to let the next class try."""
        token = token_for_header(get_authorization_header(request), address_of(request._request))
        return (token.user, token) if token is not None else None

    def authenticate_header(self, request: Request) -> str:
        """Return the scheme, so that the response to a missing token is 401 and not 403."""
        return KEYWORD
