"""Errors say what to do."""

import ssl
import time
from email.utils import formatdate

import httpx
import pytest
from django.utils import translation

from ragsite.llm import errors, http
from ragsite.llm.chat import ChatClient
from ragsite.llm.types import Endpoint

ENDPOINT = Endpoint("https://user:password@llm.example:8443/v1", "my-key")
KINDS = [
    errors.NotConfigured,
    errors.Unreachable,
    errors.TimedOut,
    errors.RateLimited,
    errors.Unauthorized,
    errors.ModelNotFound,
    errors.LocalModelNotFound,
    errors.BadRequest,
    errors.ContextTooLong,
    errors.ProviderError,
    errors.StreamCut,
    errors.BadReply,
]


def test_codes_are_unique_and_messages_say_something() -> None:
    assert len({kind.code for kind in KINDS}) == len(KINDS)
    for kind in KINDS:
        assert len(kind().message) > 20


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_server_said_and_where_it_is_are_for_operators_alone(kind: type[errors.LLMError]) -> None:
    error = kind("boom at /srv/models", where="10.0.0.7:18992")
    assert error.message == f"{kind.text} {kind.advice}"
    assert error.details == f"{kind.hint} [10.0.0.7:18992] boom at /srv/models".strip()
    assert str(error) == f"{error.message} {error.details}"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "Wait a moment and try again."),
        (0.2, "Try again in 1 second."),
        (90, "Try again in 90 seconds."),
        (121, "Try again in 3 minutes."),
        (3600, "Try again in 1 hour."),
        (5400, "Try again in 2 hours."),
        (86_399, "Try again in 24 hours."),
        (http.MAX_RETRY_AFTER, "Try again tomorrow or later."),
    ],
)
def test_when_to_come_back_is_said_in_a_unit_that_fits(seconds: float, words: str) -> None:
    error = errors.RateLimited()
    error.retry_after = seconds
    assert error.message == f"The language model is busy: too many requests. {words}"


def test_the_documented_tree_is_correct() -> None:
    for kind in KINDS:
        line = next(line for line in str(errors.__doc__).splitlines() if f" {kind.__name__} " in line)
        assert ("↻" in line) is kind.retryable


def test_details_are_one_short_line() -> None:
    error = errors.BadRequest("a\n\n b " + "x" * 1000)
    assert "\n" not in str(error)
    assert len(error.detail) == 500


def test_messages_follow_the_language_that_is_active() -> None:
    error = errors.TimedOut()
    with translation.override("en"):
        assert error.message.startswith("The language model took too long")


def test_host_has_no_credentials() -> None:
    assert http.host(ENDPOINT) == "llm.example:8443"


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("http://a", "http://a/v1/models"),
        ("http://a:1/", "http://a:1/v1/models"),
        ("http://a/v1/", "http://a/v1/models"),
        ("http://a/api/v3", "http://a/api/v3/models"),
        ("http://a/v1/chat/completions", "http://a/v1/models"),
        (
            "https://a/openai/deployments/b?api-version=2024-06-01",
            "https://a/openai/deployments/b/models?api-version=2024-06-01",
        ),
        ("https://a/b/chat/completions?api-version=1#c", "https://a/b/models?api-version=1"),
    ],
)
def test_addresses(base: str, expected: str) -> None:
    assert http.url(Endpoint(base), "/models") == expected


@pytest.mark.parametrize("key", ["abcdef1234\nX-Evil: 1", "abcdef1234\u200b", "ключ-abcdef1234", "abcdef1234\x7f"])
async def test_what_can_not_be_a_key_is_refused_without_repeating_it(key: str) -> None:
    endpoint = Endpoint("http://a/v1", key)
    with pytest.raises(errors.Unauthorized) as raised:
        await ChatClient(endpoint, httpx.MockTransport(lambda request: httpx.Response(200))).complete([])
    assert "invalid characters" in raised.value.details and "abcdef" not in str(raised.value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        ("-1", 0.0),
        ("99999999", 86_400.0),
        (None, None),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("Mon, 99 Foo 2030 00:00:00 GMT", None),
    ],
)
def test_retry_after(value: str | None, expected: float | None) -> None:
    assert http.retry_after(value) == expected


def test_retry_after_as_a_date() -> None:
    seconds = http.retry_after(formatdate(time.time() + 60, usegmt=True))
    assert seconds is not None and 30 < seconds <= 60
    assert http.retry_after(formatdate(0, usegmt=True)) == 0


@pytest.mark.parametrize(
    ("error", "started", "kind"),
    [
        (httpx.ConnectTimeout("x"), False, errors.TimedOut),
        (httpx.ReadTimeout("x"), True, errors.TimedOut),
        (httpx.ConnectError("x"), False, errors.Unreachable),
        (httpx.RemoteProtocolError("x"), False, errors.Unreachable),
        (httpx.RemoteProtocolError("x"), True, errors.StreamCut),
        (httpx.ReadError("x"), True, errors.StreamCut),
        (httpx.DecodingError("x"), True, errors.BadReply),
    ],
)
def test_transport(error: httpx.HTTPError, started: bool, kind: type[errors.LLMError]) -> None:
    assert type(http.from_transport(error, ENDPOINT, started=started)) is kind


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:11434", "[::1]:8000"])
def test_proxies_are_not_asked_for_this_machine(host: str) -> None:
    assert not http.trusts_environment(Endpoint(f"http://{host}/v1"))
    assert http.trusts_environment(ENDPOINT)


def test_certificates_are_checked_wherever_there_is_tls() -> None:
    for base, secure in (
        ("https://llm.example/v1", True),
        ("HTTPS://llm.example", True),
        ("http://127.0.0.1/v1", False),
    ):
        verify = http.verify(Endpoint(base))
        assert isinstance(verify, ssl.SSLContext) is secure
        assert not isinstance(verify, ssl.SSLContext) or verify.verify_mode is ssl.CERT_REQUIRED
