"""Messages for the user when a node fails, in their language and with advice."""

import logging
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from conversations import turn_store
from conversations.events import ErrorEvent
from conversations.pipeline.node import NodeError, NodeFailed
from ragsite.db import DATABASE_UNAVAILABLE, database_unavailable_message
from ragsite.llm import errors
from ragsite.llm.errors import LLMError
from retrieval.search import SearchFailed

logger = logging.getLogger(__name__)

# Errors with a message of their own; any other is a bug, which is logged with its traceback.
EXPECTED = (LLMError, NodeError, SearchFailed, TimeoutError, *DATABASE_UNAVAILABLE)
_TEXTS = {
    "timeout": gettext_lazy("The server took too long. Please try again."),
    "internal": gettext_lazy("Something went wrong on the server."),
}
MODEL_GONE = gettext_lazy("The language model was removed while the question was waiting.")
_AT_STEP = gettext_lazy("Something went wrong at the step “%(step)s”.")


def error_event(failure: NodeFailed, title: Any = "") -> ErrorEvent:
    """Return the event that ends a failed turn: what failed, and whether retrying may help. `title` is the node's."""
    match failure.cause:
        case LLMError() | NodeError() as cause:
            return ErrorEvent(code=cause.code, message=cause.message, retryable=cause.retryable)
        case SearchFailed() as cause:
            return ErrorEvent(code="search_failed", message=str(cause))
        case TimeoutError():
            return ErrorEvent(code="timeout", message=str(_TEXTS["timeout"]))
        case cause if isinstance(cause, DATABASE_UNAVAILABLE):
            return ErrorEvent(code="database_away", message=database_unavailable_message())
    if title:
        return ErrorEvent(code="internal", message=str(_AT_STEP) % {"step": title})
    return internal_error()


def internal_error() -> ErrorEvent:
    """Return the event that ends a turn that failed outside its nodes."""
    return ErrorEvent(code="internal", message=str(_TEXTS["internal"]))


def shown(code: str, stored: str, *, for_staff: bool = False) -> str:
    """Return the message of a stored error in the active language.

    A message that was stored in another language is replaced by the general one of its code, without the step or the
    seconds to wait. Messages with an unknown code are returned as stored. `for_staff` returns advice for people who
    may change the model.
    """
    error = errors.by_code(code)
    if error is not None:
        if for_staff:
            return error.message_for_staff
        general, known = error.message, [str(error.text), MODEL_GONE]
    else:
        texts = _TEXTS | {"interrupted": turn_store.interruption(), "database_away": database_unavailable_message()}
        general = str(texts.get(code, stored))
        known = [general, str(_AT_STEP).partition("%")[0] if code == "internal" else general]
    return stored if stored.startswith(tuple(map(str, known))) else general


def in_log(error: BaseException) -> str:
    """Return a failure for the log: its code or class, and the model server's message."""
    kind = getattr(error, "code", type(error).__name__)
    return f"{kind} {error.details}".rstrip() if isinstance(error, LLMError) else kind


def describe(error: BaseException, timeout: float | None) -> str:
    """Return what went wrong in a node, for its step and its trace; `timeout` is the node's, in seconds."""
    match error:
        case LLMError() | NodeError():
            return error.message
        case SearchFailed():
            return str(error)
        case TimeoutError():
            return _("This step took longer than %(seconds)g s.") % {"seconds": timeout or 0}
    return _("This step failed (%(kind)s).") % {"kind": type(error).__name__}


def log(failure: NodeFailed) -> None:
    """Log why a node failed its turn: expected errors in one line, others with their traceback."""
    if isinstance(failure.cause, EXPECTED):
        logger.warning("Node %s failed the turn: %s", failure.node, in_log(failure.cause))
    else:
        logger.error("Node %s failed the turn", failure.node, exc_info=failure.cause)
