"""Limits on guessing passwords and tokens: growing pauses, counted in the cache that all processes share.

Attempts are counted per account and address, per address over all accounts, and per account over all addresses. The
last two don't apply to addresses from which the user has signed in before: attackers can lock users out neither from
their usual places nor, behind an address that many share, from there. Counts decay, and a success clears those of the
account. During a pause, attempts are rejected without being checked or counted.
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

# Seconds for which an address is known after a sign-in.
KNOWN = 30 * 24 * 3600


class TooManyGuesses(Exception):
    """An attempt was rejected unchecked; the next one may be made after `wait` seconds."""

    def __init__(self, wait: int) -> None:
        super().__init__(f"try again in {wait} s")
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Limit:
    """`free` attempts without a pause; then a pause in seconds, which doubles with each attempt up to `longest`.

    Attempts count in full for up to `window` seconds, and then ever less until they are forgotten after as long again.
    """

    free: int
    pause: int
    longest: int
    window: int

    def pause_after(self, tries: int) -> int:
        """Return the pause after this many attempts, 0 for the free ones."""
        return int(min(self.longest, self.pause * 2 ** min(tries - self.free - 1, 30))) if tries > self.free else 0


BY_ACCOUNT_AND_ADDRESS = Limit(free=5, pause=5, longest=900, window=4 * 3600)
BY_ADDRESS = Limit(free=20, pause=5, longest=300, window=900)
BY_ACCOUNT = Limit(free=50, pause=1, longest=10, window=4 * 3600)


class Guess:
    """An attempt at an account's secret from an address. `kind` separates passwords from tokens."""

    def __init__(self, kind: str, account: str, address: str) -> None:
        self.kind, self.account, self.address = kind, account.casefold(), _network(address)
        self._known = _key(kind, "known", self.account, self.address)
        here = _Count(_key(kind, "both", self.account, self.address), BY_ACCOUNT_AND_ADDRESS)
        everywhere = _Count(_key(kind, "account", self.account), BY_ACCOUNT)
        is_known = bool(cache.get(self._known))
        # Of simultaneous attempts at one account, only one is allowed, so they are counted before they are checked.
        self._of_account = [here] if is_known else [here, everywhere]
        # Sixty people who share an address may sign in at once, so only failures are counted.
        self._of_address = None if is_known else _Count(_key(kind, "address", self.address), BY_ADDRESS)
        self.is_right = False

    def begin(self) -> None:
        """Count the attempt at the account until it `succeeded`; raises `TooManyGuesses` during a pause."""
        if self._of_address is not None and (wait := self._of_address.wait()):
            raise TooManyGuesses(wait)
        begun: list[_Count] = []
        for count in self._of_account:
            pause = count.limit.pause_after(count.add(1))
            begun.append(count)
            if pause and not count.pause(pause):
                for counted in begun:
                    counted.add(-1)
                raise TooManyGuesses(count.wait() or 1)

    def failed(self) -> None:
        """Count the attempt for the address, and log it if there is a pause now."""
        if self._of_address is not None and (pause := self._of_address.limit.pause_after(self._of_address.add(1))):
            self._of_address.pause(pause)
        if wait := max(count.wait() for count in (*self._of_account, self._of_address) if count is not None):
            logger.warning("Wrong %s, for %s from %s; next attempt in %d s", self.kind, self._who(), self.address, wait)

    def succeeded(self) -> None:
        """Clear the counts of the account, and remember the address."""
        self.is_right = True
        for count in self._of_account:
            count.clear()
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


class _Count:
    """A number of attempts that decays, and its pause."""

    def __init__(self, key: str, limit: Limit) -> None:
        self.limit = limit
        self._began = time.time()
        window = int(self._began // limit.window)
        self._now, self._before, self._until = f"{key}:{window}", f"{key}:{window - 1}", f"{key}:until"

    def add(self, count: int) -> int:
        """Change the number and return it."""
        cache.add(self._now, 0, 2 * self.limit.window)
        try:
            tries = cache.incr(self._now, count)
        except ValueError:  # it has expired in between
            tries = max(count, 0)
        passed = self._began % self.limit.window / self.limit.window
        return int(tries + (cache.get(self._before) or 0) * (1 - passed))

    def pause(self, seconds: int) -> bool:
        """Begin a pause; return False if there is one."""
        return bool(cache.add(self._until, time.time() + seconds, seconds))

    def wait(self) -> int:
        """Return the seconds that are left of the pause, rounded; 0 if there is none."""
        until = cache.get(self._until)
        return max(1, round(until - time.time())) if until else 0

    def clear(self) -> None:
        """Forget the attempts and end the pause."""
        cache.delete_many([self._now, self._before, self._until])
