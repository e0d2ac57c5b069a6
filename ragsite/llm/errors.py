"""What can go wrong with a model, told so that a person can act on it.

LLMError
├── NotConfigured          no model is set
├── Unreachable        ↻   no connection: wrong address, server down, TLS refused
├── TimedOut           ↻   no connection, no next piece, or no end within the time allowed
├── RateLimited        ↻   429; `retry_after` holds the seconds that the provider asks for
├── Unauthorized           401, 403: the key is missing or refused; 402: no credit left
├── ModelNotFound          the endpoint has no model of that name
│   └── LocalModelNotFound a model of this machine's own can't be found or loaded
├── BadRequest             the endpoint refuses the request as it stands
│   └── ContextTooLong     the prompt doesn't fit the model's window
├── ProviderError      ↻   5xx, or an error reported in the middle of a stream
├── StreamCut          ↻   the answer broke off before its end
└── BadReply               the reply isn't what the protocol says

↻ marks what may succeed when tried again (`retryable`).
"""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class LLMError(Exception):
    """A model call failed; `str()` and `message` are for a person, `code` is for programs.

    `where` names the server and `detail` holds what it said; neither may hold a key.
    """

    code = "llm_error"
    retryable = False
    text: str | Promise = _("The language model failed.")

    def __init__(self, detail: str = "", *, where: str = "") -> None:
        super().__init__(detail)
        self.detail = " ".join(detail.split())[:500]
        self.where = where

    @property
    def message(self) -> str:
        """The failure in words, in the language that is active now."""
        parts = [str(self.text)]
        if self.where:
            parts.append(f"[{self.where}]")
        if self.detail:
            parts.append(self.detail)
        return " ".join(parts)

    def __str__(self) -> str:
        return self.message


class NotConfigured(LLMError):
    """No model is set."""

    code = "not_configured"
    text = _("No language model is set up. An administrator can set one with LLM_BASE_URL.")


class Unreachable(LLMError):
    """No connection could be made."""

    code = "unreachable"
    retryable = True
    text = _("The language model can't be reached. Check its address and that it is running.")


class TimedOut(LLMError):
    """No connection, no next piece or no end within the time allowed."""

    code = "timed_out"
    retryable = True
    text = _("The language model took too long. Try again, or ask a shorter question.")


class RateLimited(LLMError):
    """Too many requests; `retry_after` is in seconds, None when the provider doesn't say."""

    code = "rate_limited"
    retryable = True
    text = _("The language model is busy: too many requests. Wait a moment and try again.")

    def __init__(self, detail: str = "", *, where: str = "", retry_after: float | None = None) -> None:
        super().__init__(detail, where=where)
        self.retry_after = retry_after


class Unauthorized(LLMError):
    """The key is missing or refused, or its account has no credit."""

    code = "unauthorized"
    text = _("The language model refuses the key. An administrator has to check LLM_API_KEY and the account's credit.")


class ModelNotFound(LLMError):
    """The endpoint has no model of that name."""

    code = "model_not_found"
    text = _("The model isn't available there. An administrator has to check LLM_MODEL and the address.")


class LocalModelNotFound(ModelNotFound):
    """A model of this machine's own can't be found or loaded."""

    code = "local_model_not_found"
    text = _("The model can't be found or loaded on this machine. An administrator has to check its name or folder.")


class BadRequest(LLMError):
    """The endpoint refuses the request as it stands."""

    code = "bad_request"
    text = _("The language model refuses the request.")


class ContextTooLong(BadRequest):
    """The prompt doesn't fit the model's window."""

    code = "context_too_long"
    text = _(
        "The question and its sources are too long for the language model. Ask a shorter question or start a new chat."
    )


class ProviderError(LLMError):
    """The provider failed on its side."""

    code = "provider_error"
    retryable = True
    text = _("The language model's server failed. Try again in a moment.")


class StreamCut(LLMError):
    """The answer broke off before its end."""

    code = "stream_cut"
    retryable = True
    text = _("The answer broke off before its end. What came is kept; try again for a whole one.")


class BadReply(LLMError):
    """The reply isn't what the protocol says."""

    code = "bad_reply"
    text = _(
        "The language model's server sent something unreadable. Check that its address is an OpenAI-compatible API."
    )
