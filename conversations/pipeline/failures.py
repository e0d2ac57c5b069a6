"""Messages for the reader when a node fails: plain words in their language, and advice."""

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

# Errors that carry words of their own; any other is a fault of the program, which the log shows whole.
EXPECTED = (LLMError, NodeError, SearchFailed, TimeoutError, *DATABASE_UNAVAILABLE)
_TEXTS = {
    "timeout": gettext_lazy("The server took too long. Please try again."),
    "internal": gettext_lazy("Something went wrong on the server."),
}
MODEL_GONE = gettext_lazy("The language model was taken away while the question waited.")
_AT_STEP = gettext_lazy("Something went wrong at the step “%(step)s”.")


def error_event(failure: NodeFailed, title: Any = "") -> ErrorEvent:
    """Return the turn's end for its reader: what failed, and whether another try may help. `title` is the node's."""
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
    """Return the turn's end for a failure that no node had."""
    return ErrorEvent(code="internal", message=str(_TEXTS["internal"]))


def shown(code: str, stored: str, *, for_staff: bool = False) -> str:
    """Return the message of an error that was stored, in the language of who reads it.

    What was stored in another language is said by its code, in general words: without the step, or the seconds to wait.
    Of codes that nobody here gives, it is as it was stored. `for_staff` tells what those who may change the model can
    do.
    """
    error = errors.by_code(code)
    if error is not None:
        if for_staff:
            return error.message_for_staff
        general, said = error.message, [str(error.text), MODEL_GONE]
    else:
        texts = _TEXTS | {"interrupted": turn_store.interruption(), "database_away": database_unavailable_message()}
        general = str(texts.get(code, stored))
        said = [general, str(_AT_STEP).partition("%")[0] if code == "internal" else general]
    return stored if stored.startswith(tuple(map(str, said))) else general


def in_log(error: BaseException) -> str:
    """Return what the log holds of a failure: its code or kind, and what a model's server said."""
    kind = getattr(error, "code", type(error).__name__)
    return f"{kind} {error.details}".rstrip() if isinstance(error, LLMError) else kind


def describe(error: BaseException, timeout: float | None) -> str:
    """Say in a few words what went wrong in a node, for its step and its trace; `timeout` is the node's, in seconds."""
    match error:
        case LLMError() | NodeError():
            return error.message
        case SearchFailed():
            return str(error)
        case TimeoutError():
            return _("This step took longer than %(seconds)g s.") % {"seconds": timeout or 0}
    return _("This step failed (%(kind)s).") % {"kind": type(error).__name__}


def log(failure: NodeFailed) -> None:
    """Log why a node failed its turn: of what is to be expected a line, else with where it happened."""
    if isinstance(failure.cause, EXPECTED):
        logger.warning("Node %s failed the turn: %s", failure.node, in_log(failure.cause))
    else:
        logger.error("Node %s failed the turn", failure.node, exc_info=failure.cause)
