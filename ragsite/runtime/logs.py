"""Log filters, among them one that adds the request ID, and a formatter of JSON lines."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

# The ID of the running turn's request; tasks and threads that the turn starts inherit it.
_request_id: ContextVar[str] = ContextVar("request_id", default="-")


@contextmanager
def about_request(request_id: object) -> Iterator[None]:
    """Context manager that sets the request ID of log records, also in tasks started within it."""
    token = _request_id.set(str(request_id))
    try:
        yield
    finally:
        _request_id.reset(token)


class RequestId(logging.Filter):
    """Adds `request_id` to each record, `-` outside a turn."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record through."""
        record.request_id = _request_id.get()
        return True


class TracebackOfFaults(logging.Filter):
    """Removes the traceback from records of rejected requests, which are not errors of the site."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record through."""
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = None
        return True


class JsonFormatter(logging.Formatter):
    """Formats a record as a JSON object on one line: time (UTC), level, logger, request ID and message.

    A record's `fields`, a dictionary passed as `extra`, are added to the object; an exception is added as a string.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "request_id": getattr(record, "request_id", "-"),
            "message": record.getMessage(),
        }
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)
