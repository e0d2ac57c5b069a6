"""The HTTP clients of endpoints, and what HTTP says, told in this package's errors."""

import json
import re
import ssl
import time
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any
from urllib.parse import SplitResult, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import httpx
from django.utils.translation import gettext as _

from ragsite.llm import errors, secrets
from ragsite.llm.pinning import AsyncPinnedTransport, PinnedTransport
from ragsite.llm.types import Endpoint

_KEY = re.compile(r"\b(sk|key|gsk|xai)-[\w*-]{6,}", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context.{0,20}(length|window|size)|maximum context|too many tokens|prompt is too long|"
    r"exceeds? the (available )?context|reduce the length|input length",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(r"model.{0,80}(not found|does not exist|not exist|no such|unknown|try pulling)", re.IGNORECASE)
_STATUS_OF_CODE = {
    "rate_limit_exceeded": 429,
    "insufficient_quota": 402,
    "invalid_api_key": 401,
    "model_not_found": 404,
    "context_length_exceeded": 413,
    "invalid_request_error": 400,
}
# Seconds; what asks for longer is as good as down.
MAX_RETRY_AFTER = 86_400.0
# Seconds that connections stay open unused; most servers close them sooner, which is noticed.
KEEP_OPEN = 60.0


def client(endpoint: Endpoint, transport: httpx.AsyncBaseTransport | None = None) -> httpx.AsyncClient:
    """Return an HTTP client for an endpoint, which checks where its name leads if `Endpoint.own_network` says so.

    `transport` replaces the network in tests. Raises `Unreachable`.
    """
    return httpx.AsyncClient(**_options(endpoint, transport, AsyncPinnedTransport))


def blocking_client(endpoint: Endpoint, transport: httpx.BaseTransport | None = None) -> httpx.Client:
    """Return what `client` does, for those who wait."""
    return httpx.Client(**_options(endpoint, transport, PinnedTransport))


def _options(
    endpoint: Endpoint, transport: Any, pinned: type[AsyncPinnedTransport | PinnedTransport]
) -> dict[str, Any]:
    certificates = verify(endpoint)
    # Places, not sockets, bound what runs at once: waiting for a socket would look like a server that is down.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=32, keepalive_expiry=KEEP_OPEN)
    if transport is None and endpoint.own_network is not None and not is_proxied(endpoint):
        transport = pinned(own_network=endpoint.own_network, verify=certificates, limits=limits)
    return {
        "headers": headers(endpoint),
        "timeout": timeout(endpoint),
        "transport": transport,
        "trust_env": trusts_environment(endpoint),
        "verify": certificates,
        "limits": limits,
    }


def url(endpoint: Endpoint, path: str) -> str:
    """Return the address of an API path: `…/v1` + `/chat/completions`.

    A base URL without any path gets `/v1`, since that is where everyone keeps it; one that was copied with
    `/chat/completions` at its end is understood. A query (`?api-version=…`) stays behind the path.
    """
    parts = _parts(endpoint)
    base = parts.path.rstrip("/").removesuffix("/completions").removesuffix("/chat")
    return urlunsplit((parts.scheme, parts.netloc, f"{base or '/v1'}{path}", parts.query, ""))


def headers(endpoint: Endpoint) -> dict[str, str]:
    """Return the request's headers; no key, no authorisation. Raises `Unauthorized` for what can't be a key."""
    if not secrets.is_key(endpoint.api_key):
        raise errors.Unauthorized(_("The key contains invalid characters. Copy it again."), where=host(endpoint))
    # Compressed streams are held back until a block is full.
    fields = {"Accept-Encoding": "identity"}
    return fields | {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else fields


def trusts_environment(endpoint: Endpoint) -> bool:
    """Whether the usual proxy variables count: they don't for a server on this machine."""
    return _parts(endpoint).hostname not in {"localhost", "127.0.0.1", "::1"}


def is_proxied(endpoint: Endpoint) -> bool:
    """Whether a proxy of the environment takes the requests, which then also resolves the name."""
    parts, proxies = _parts(endpoint), getproxies()
    is_named = parts.scheme in proxies or "all" in proxies
    return is_named and trusts_environment(endpoint) and not proxy_bypass(parts.hostname or "")


def verify(endpoint: Endpoint) -> ssl.SSLContext | bool:
    """Return what a server has to prove itself by, as httpx's `verify`: nothing where it isn't spoken to over TLS."""
    return _certificates() if _parts(endpoint).scheme == "https" else False


def timeout(endpoint: Endpoint) -> httpx.Timeout:
    """Return connect, read, write and pool time-outs; reading is bounded by the longest silence."""
    return httpx.Timeout(endpoint.idle_timeout, connect=endpoint.connect_timeout, pool=endpoint.connect_timeout)


def host(endpoint: Endpoint) -> str:
    """Return the server's name for messages, without credentials."""
    return _parts(endpoint).netloc.rpartition("@")[2]


def from_transport(error: Exception, endpoint: Endpoint, *, started: bool) -> errors.LLMError:
    """Return the error for a failed request; `started` says whether an answer had begun to arrive."""
    where = host(endpoint)
    if isinstance(error, httpx.TimeoutException):
        return errors.TimedOut(where=where)
    if isinstance(error, httpx.DecodingError):
        return errors.BadReply(str(error), where=where)
    if started:
        return errors.StreamCut(where=where)
    return errors.Unreachable(clean(str(error), endpoint), where=where)


def from_status(response: httpx.Response, body: bytes, endpoint: Endpoint) -> errors.LLMError:
    """Return the error for a reply whose status isn't 2xx."""
    status = response.status_code
    text = body[:4096].decode(errors="replace").strip()
    try:
        words = _words(json.loads(text))
    except ValueError:
        words = "" if text.startswith("<") else text[:300]  # a page of a proxy says less than its status
    detail = clean(words or f"HTTP {status} {response.reason_phrase}", endpoint)
    where = host(endpoint)
    if 300 <= status < 400:
        return errors.Unreachable(f"HTTP {status}: the address redirects elsewhere.", where=where)
    if status == 429 and b"insufficient_quota" in body:
        # No credit, which no waiting helps.
        status = 402
    error = _kind(status, detail)(detail, where=where)
    if error.retryable:
        error.retry_after = retry_after(response.headers.get("retry-after"))
    return error


def from_object(error: Any, endpoint: Endpoint) -> errors.LLMError:
    """Return the error for an error object (or string) that came inside a reply of status 200."""
    detail = clean(_words(error) or "unknown error", endpoint)
    # The HTTP status that it would have had, as far as its `code` tells; 500 when it doesn't.
    code = str((error.get("code") or error.get("status")) if isinstance(error, dict) else "")
    status = int(code) if re.fullmatch(r"[45]\d\d", code) else _STATUS_OF_CODE.get(code, 500)
    kind = _kind(status, detail)
    if kind is errors.ProviderError and _TOO_LONG.search(detail):
        kind = errors.ContextTooLong
    return kind(detail, where=host(endpoint))


def names_a_model(detail: str) -> bool:
    """Whether a refusal says that the model, rather than the path, is missing."""
    return bool(_NO_MODEL.search(detail))


def retry_after(value: str | None) -> float | None:
    """Return the seconds of a `Retry-After` header (a number or a date), between 0 and a day, or None."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return min(max(seconds, 0.0), MAX_RETRY_AFTER) if seconds == seconds else None


def clean(text: str, endpoint: Endpoint) -> str:
    """Return a provider's words without any key that they may repeat."""
    if endpoint.api_key:
        text = text.replace(endpoint.api_key, "…")
    return _KEY.sub("…", text)


@cache
def _certificates() -> ssl.SSLContext:
    """Return one context for all clients: reading the certificates takes a tenth of a second."""
    return httpx.create_ssl_context()


def _parts(endpoint: Endpoint) -> SplitResult:
    try:
        parts = urlsplit(endpoint.base_url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise errors.Unreachable("The base URL is no http:// or https:// address.")
    return parts


def _kind(status: int, detail: str) -> type[errors.LLMError]:
    if status == 429:
        return errors.RateLimited
    if status in (401, 402, 403):
        return errors.Unauthorized
    if status in (404, 405, 410, 501):
        return errors.ModelNotFound
    if status in (408, 504):
        return errors.TimedOut
    if status == 413 or (status < 500 and _TOO_LONG.search(detail)):
        return errors.ContextTooLong
    if status < 500 and _NO_MODEL.search(detail):
        return errors.ModelNotFound
    return errors.BadRequest if status < 500 else errors.ProviderError


def _words(value: Any) -> str:
    """Return the message in the shapes that servers give errors: a string, or nested under the usual names."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "; ".join(filter(None, map(_words, value[:3])))
    if not isinstance(value, dict):
        return ""
    return next((words for name in ("error", "message", "detail", "msg") if (words := _words(value.get(name)))), "")
