"""Limits on guessing passwords and tokens: growing pauses, counted in the cache that all processes share.

Failed attempts are counted per account and address, per address over all accounts, and per account over all addresses.
The pauses of the last count are short and don't apply to addresses from which the user has signed in before, so that
an attacker elsewhere can't lock users out of their accounts. During a pause, attempts are rejected without being
checked or counted, so that at most one attempt is checked per pause.
"""

import hashlib
import ipaddress
import logging
import time
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import HttpRequest

logger = logging.getLogger(__name__)

# Seconds for which a count is kept after the last attempt, and for which an address is known after a sign-in.
REMEMBERED = 24 * 3600
KNOWN = 30 * 24 * 3600


class TooManyGuesses(Exception):
    """An attempt was rejected unchecked; the next one may be made after `wait` seconds."""

    def __init__(self, wait: int) -> None:
        super().__init__(f"try again in {wait} s")
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Limit:
    """`free` attempts without a pause; then a pause in seconds, which doubles with each attempt up to `longest`."""

    free: int
    pause: int
    longest: int

    def pause_after(self, tries: int) -> int:
        """Return the pause after an attempt beyond the free ones."""
        return int(min(self.longest, self.pause * 2 ** min(tries - self.free - 1, 30)))


BY_ACCOUNT_AND_ADDRESS = Limit(free=5, pause=5, longest=900)
BY_ADDRESS = Limit(free=20, pause=5, longest=300)
BY_ACCOUNT = Limit(free=50, pause=1, longest=10)


class Guess:
    """An attempt at an account's secret from an address. `kind` separates passwords from tokens."""

    def __init__(self, kind: str, account: str, address: str) -> None:
        self.kind, self.account, self.address = kind, account.casefold(), _network(address)
        here = _key(kind, "both", self.account, self.address)
        self._known = _key(kind, "known", self.account, self.address)
        self._counts = {here: BY_ACCOUNT_AND_ADDRESS, _key(kind, "address", self.address): BY_ADDRESS}
        if not cache.get(self._known):
            self._counts[_key(kind, "account", self.account)] = BY_ACCOUNT

    def begin(self) -> None:
        """Count the attempt as a failure until it `succeeded`; raises `TooManyGuesses` during a pause."""
        begun: list[str] = []
        for key, limit in self._counts.items():
            tries = _add(key, 1)
            pause = limit.pause_after(tries) if tries > limit.free else 0
            until = time.time() + pause
            # Only one of several simultaneous attempts is allowed.
            if pause and not cache.add(f"{key}:until", until, pause):
                wait = max(1, round((cache.get(f"{key}:until") or until) - time.time()))
                for counted in (*begun, key):
                    _add(counted, -1)
                raise TooManyGuesses(wait)
            if pause:
                logger.warning(
                    "Wrong %s %d times, for %s from %s; next attempt in %d s",
                    self.kind, tries - 1, self._who(), self.address, pause,
                )  # fmt: skip
            begun.append(key)

    def succeeded(self) -> None:
        """Clear the counts of the account, and subtract this attempt from the count of the address."""
        for key, limit in self._counts.items():
            if limit is BY_ADDRESS:
                _add(key, -1)
            else:
                cache.delete_many([key, f"{key}:until"])
        cache.set(self._known, 1, KNOWN)

    def _who(self) -> str:
        """Return the user for the log: never the name as typed, which may be a password in the wrong field."""
        found = User.objects.filter(username__iexact=self.account).values_list("pk", flat=True).first()
        return f"user {found}" if found is not None else "no user"


def address_of(request: HttpRequest) -> str:
    """Return the address of a request's client; with `RAGSITE_BEHIND_TLS`, as reported by the proxy."""
    forwarded = request.headers.get("X-Forwarded-For", "") if settings.BEHIND_TLS else ""
    return forwarded.rpartition(",")[2].strip() or str(request.META.get("REMOTE_ADDR") or "")


def _network(address: str) -> str:
    """Return the address to count: for IPv6 the /64 network, since a client usually has all of it.

    An IPv4 address mapped to IPv6, as dual-stack proxies write it, counts as the IPv4 address.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return str(parsed) if parsed.version == 4 else str(ipaddress.ip_network(f"{address}/64", strict=False))


def _key(*parts: str) -> str:
    return f"guesses.{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()}"


def _add(key: str, count: int) -> int:
    """Change a counter and return it."""
    cache.add(key, 0, REMEMBERED)
    try:
        tries = cache.incr(key, count)
    except ValueError:  # it has expired in between
        return max(count, 0)
    cache.touch(key, REMEMBERED)
    return tries
