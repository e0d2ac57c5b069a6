"""HTTP clients for endpoints, and the translation of HTTP failures into this package's errors."""

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
# Seconds; a server that asks for more is as good as down.
MAX_RETRY_AFTER = 86_400.0
# Seconds that unused connections stay open; most servers close them sooner, which is detected.
KEEP_OPEN = 60.0


def client(endpoint: Endpoint, transport: httpx.AsyncBaseTransport | None = None) -> httpx.AsyncClient:
    """Return an HTTP client for an endpoint; unless `Endpoint.own_network` is None, it checks the addresses.

    `transport` replaces the network in tests. Raises `Unreachable`.
    """
    return httpx.AsyncClient(**_options(endpoint, transport, AsyncPinnedTransport))


def blocking_client(endpoint: Endpoint, transport: httpx.BaseTransport | None = None) -> httpx.Client:
    """Return a blocking client, otherwise as `client` does."""
    return httpx.Client(**_options(endpoint, transport, PinnedTransport))


def _options(
    endpoint: Endpoint, transport: Any, pinned: type[AsyncPinnedTransport | PinnedTransport]
) -> dict[str, Any]:
    certificates = verify(endpoint)
    # Concurrency is limited by places, not by sockets: waiting for a socket would look like a server that is down.
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
    """Return the URL of an API path: `…/v1` + `/chat/completions`.

    A base URL without a path gets `/v1`, where nearly every API is; one that was copied with `/chat/completions` at its
    end is accepted. A query string (`?api-version=…`) is kept after the path.
    """
    parts = _parts(endpoint)
    base = parts.path.rstrip("/").removesuffix("/completions").removesuffix("/chat")
    return urlunsplit((parts.scheme, parts.netloc, f"{base or '/v1'}{path}", parts.query, ""))


def headers(endpoint: Endpoint) -> dict[str, str]:
    """Return the request's headers, with authorisation if there is a key. Raises `Unauthorized` for an invalid key."""
    if not secrets.is_key(endpoint.api_key):
        raise errors.Unauthorized(_("The key contains invalid characters. Copy it again."), where=host(endpoint))
    # Compression would delay streams until a block is full.
    fields = {"Accept-Encoding": "identity"}
    return fields | {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else fields


def trusts_environment(endpoint: Endpoint) -> bool:
    """Return whether the usual proxy variables apply: they don't to a server on this machine."""
    return _parts(endpoint).hostname not in {"localhost", "127.0.0.1", "::1"}


def is_proxied(endpoint: Endpoint) -> bool:
    """Return whether requests go through a proxy set in the environment, which also resolves the name."""
    parts, proxies = _parts(endpoint), getproxies()
    is_named = parts.scheme in proxies or "all" in proxies
    return is_named and trusts_environment(endpoint) and not proxy_bypass(parts.hostname or "")


def verify(endpoint: Endpoint) -> ssl.SSLContext | bool:
    """Return httpx's `verify`: the certificates to trust, or False without TLS."""
    return _certificates() if _parts(endpoint).scheme == "https" else False


def timeout(endpoint: Endpoint) -> httpx.Timeout:
    """Return the time-outs for connecting, reading, writing and the pool; reading is bounded by the longest silence."""
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
        message = _message(json.loads(text))
    except ValueError:
        message = "" if text.startswith("<") else text[:300]  # a proxy's HTML page says less than its status
    detail = clean(message or f"HTTP {status} {response.reason_phrase}", endpoint)
    where = host(endpoint)
    if 300 <= status < 400:
        return errors.Unreachable(f"HTTP {status}: the address redirects elsewhere.", where=where)
    if status == 429 and b"insufficient_quota" in body:
        # The account has no credit left, so waiting doesn't help.
        status = 402
    error = _kind(status, detail)(detail, where=where)
    if error.retryable:
        error.retry_after = retry_after(response.headers.get("retry-after"))
    return error


def from_object(error: Any, endpoint: Endpoint) -> errors.LLMError:
    """Return the error for an error object (or string) that came inside a reply of status 200."""
    detail = clean(_message(error) or "unknown error", endpoint)
    # The corresponding HTTP status according to its `code`, or 500.
    code = str((error.get("code") or error.get("status")) if isinstance(error, dict) else "")
    status = int(code) if re.fullmatch(r"[45]\d\d", code) else _STATUS_OF_CODE.get(code, 500)
    kind = _kind(status, detail)
    if kind is errors.ProviderError and _TOO_LONG.search(detail):
        kind = errors.ContextTooLong
    return kind(detail, where=host(endpoint))


def names_a_model(detail: str) -> bool:
    """Return whether an error message says that the model, rather than the path, is missing."""
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
    """Return a provider's message without any key that it may repeat."""
    if endpoint.api_key:
        text = text.replace(endpoint.api_key, "…")
    return _KEY.sub("…", text)


@cache
def _certificates() -> ssl.SSLContext:
    """Return a context shared by all clients, since reading the certificates takes a tenth of a second."""
    return httpx.create_ssl_context()


def _parts(endpoint: Endpoint) -> SplitResult:
    try:
        parts = urlsplit(endpoint.base_url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise errors.Unreachable("The base URL isn't an http:// or https:// URL.")
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


def _message(value: Any) -> str:
    """Return the message of an error in any of the usual formats: a string, or nested under common names."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "; ".join(filter(None, map(_message, value[:3])))
    if not isinstance(value, dict):
        return ""
    return next((found for name in ("error", "message", "detail", "msg") if (found := _message(value.get(name)))), "")
