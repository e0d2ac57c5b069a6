"""Errors of models, with messages that say what to do.

LLMError
├── NotConfigured          no model is set
├── Unreachable        ↻   no connection: wrong address, server down, TLS refused
├── AddressRefused         the address is in a network that must not be requested
├── TimedOut           ↻   no connection, no further data, or no end within the time allowed
├── RateLimited        ↻   429
├── Busy               ↻   the site's limit on concurrent requests is reached
├── Unauthorized           401, 403: the key is missing or rejected; 402: no credit left
├── ModelNotFound          the endpoint has no model of that name
│   └── LocalModelNotFound a local model can't be found or loaded
├── BadRequest             the endpoint rejects the request
│   └── ContextTooLong     the prompt doesn't fit the model's context window
├── ProviderError      ↻   5xx, or an error reported in the middle of a stream
├── StreamCut          ↻   the answer broke off before its end
├── NoAnswer           ↻   the reply was complete, but contained no answer
├── TooLong            ↻   the answer is too long
└── BadReply               the reply doesn't follow the protocol

↻ marks errors after which another attempt may succeed (`retryable`).
"""

import math

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from ragsite.language.sentences import join_sentences
from ragsite.llm.stream.unicode_repair import whole


class LLMError(Exception):
    """A model call failed: `message` is for the user, `code` for programs, `details` and `str()` for logs.

    `where` names the server, and `detail` is its error message; neither may contain a key, and pages show them only to
    those who may see everyone's traces. `retry_after` is the number of seconds that the server asks to wait, or None.
    """

    code = "llm_error"
    retryable = False
    text: str | Promise = _("The language model failed.")
    # What the user can do, unless the server says when to try again.
    advice: str | Promise = _("Please tell an administrator.")
    # What an administrator can do.
    hint: str | Promise = ""
    # Where they can do it.
    place: str | Promise = _("See “Model profiles” in the administration.")

    def __init__(self, detail: str = "", *, where: str = "") -> None:
        super().__init__(detail)
        self.detail = " ".join(whole(detail).split())[:500]
        self.where = where
        self.retry_after: float | None = None

    @property
    def message(self) -> str:
        """The failure and what to do, in the active language, without the server's error message."""
        seconds = self.retry_after or 0
        advice = str(self.advice)
        if seconds >= 86_400:
            advice = str(_("Try again tomorrow or later."))
        elif seconds >= 3600:
            count = math.ceil(seconds / 3600)
            advice = ngettext("Try again in %(n)d hour.", "Try again in %(n)d hours.", count) % {"n": count}
        elif seconds > 120:
            count = math.ceil(seconds / 60)
            advice = ngettext("Try again in %(n)d minute.", "Try again in %(n)d minutes.", count) % {"n": count}
        elif seconds > 0:
            count = math.ceil(seconds)
            advice = ngettext("Try again in %(n)d second.", "Try again in %(n)d seconds.", count) % {"n": count}
        return join_sentences(self.text, advice)

    @property
    def message_for_staff(self) -> str:
        """The same for staff who can change the model: what to do and where, instead of asking an administrator."""
        if not self.hint:
            return self.message
        return join_sentences(self.text, self.hint, self.place)

    @property
    def details(self) -> str:
        """What an administrator can do, the server, and its error message."""
        return join_sentences(self.hint, self.where and f"[{self.where}]", self.detail)

    def __str__(self) -> str:
        return join_sentences(self.message, self.details)


class NotConfigured(LLMError):
    """No model is set."""

    code = "not_configured"
    text = _("No language model is set up.")
    advice = _("An administrator can set one up.")
    hint = _("Connect a model, or enable a connected one.")


class Unreachable(LLMError):
    """No connection could be made."""

    code = "unreachable"
    retryable = True
    text = _("The language model can't be reached at the moment.")
    advice = _("Try again in a moment. If that doesn't help, please tell an administrator.")
    hint = _("Check its address and that it is running.")


class AddressRefused(LLMError):
    """The address is in this machine's own network, or is that of a network service."""

    code = "address_refused"
    text = _("The language model's address is not allowed.")

    def __init__(self, *, where: str = "", is_inside: bool = False) -> None:
        super().__init__(where=where)
        # Whether an administrator may allow it.
        self.is_inside = is_inside
        self.hint = (
            _(
                "This address is on this machine or in its local network. If the server is yours, tick “Our own "
                "server” in its model profile."
            )
            if is_inside
            else _("This address is reserved for network services and can't be used for a model.")
        )


class TimedOut(LLMError):
    """No connection, no further data or no end within the time allowed."""

    code = "timed_out"
    retryable = True
    text = _("The language model took too long.")
    advice = _("Try again, or ask a shorter question.")


class RateLimited(LLMError):
    """Too many requests."""

    code = "rate_limited"
    retryable = True
    text = _("The language model is busy: too many requests.")
    advice = _("Wait a moment and try again.")


class Busy(LLMError):
    """No place among the concurrent requests became free in time."""

    code = "busy"
    retryable = True
    text = _("Too many questions are being answered at the moment.")
    advice = _("Wait a moment and try again.")


class Unauthorized(LLMError):
    """The key is missing or rejected, or its account has no credit."""

    code = "unauthorized"
    text = _("The language model's provider rejected this site's API key, or the account has no credit left.")
    hint = _("Check the key, in the environment or in the model profile, and the account's credit.")


class ModelNotFound(LLMError):
    """The endpoint has no model of that name."""

    code = "model_not_found"
    text = _("The configured language model isn't available.")
    hint = _("Check the model's name and the address.")


class LocalModelNotFound(ModelNotFound):
    """A local model can't be found or loaded."""

    code = "local_model_not_found"
    text = _("The model can't be found or loaded on this machine.")
    hint = _("Check its name or folder.")


class BadRequest(LLMError):
    """The endpoint rejects the request."""

    code = "bad_request"
    text = _("The language model's provider rejected the request.")
    hint: str | Promise = _("See the answer's trace for the reason.")


class ContextTooLong(BadRequest):
    """The prompt doesn't fit the model's context window."""

    code = "context_too_long"
    text = _("The question and its sources are too long for the language model.")
    advice = _("Ask a shorter question or start a new chat.")
    hint = ""  # only the user can do something about it


class ProviderError(LLMError):
    """The provider failed on its side."""

    code = "provider_error"
    retryable = True
    text = _("The language model's server failed.")
    advice = _("Try again in a moment.")


class StreamCut(LLMError):
    """The answer was cut off."""

    code = "stream_cut"
    retryable = True
    text = _("The answer was cut off.")
    advice = _("What was written is kept; try again for a complete answer.")


class NoAnswer(LLMError):
    """The reply was complete, but contained no answer."""

    code = "no_answer"
    retryable = True
    text = _("The language model ended without writing an answer.")
    advice = _("Try again in a moment.")


class TooLong(LLMError):
    """The answer is too long."""

    code = "answer_too_long"
    retryable = True
    text = _("The answer became too long and was stopped.")
    advice = _("What was written is kept.")


class BadReply(LLMError):
    """The reply doesn't follow the protocol."""

    code = "bad_reply"
    text = _("The language model's server sent an invalid response.")
    hint = _("Check that its address is an OpenAI-compatible API.")


def by_code(code: str) -> LLMError | None:
    """Return the error with a code, without a server's message, or None if there is none."""
    kinds = [LLMError]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
    return next((kind() for kind in kinds if kind.code == code), None)
