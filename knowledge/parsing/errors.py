"""The error that parsers raise."""

from typing import Any


class ParseError(Exception):
    """A file can't be ingested.

    `key` identifies a message in `knowledge.explanations`, into which the JSON-safe `params` are inserted. It is a
    stable `code` for programs, followed by a dot and a name if several messages share the code.

    Codes: empty, encrypted, broken, unsupported, too_many_pages, too_many_rows, too_many_attachments, too_large,
    no_text, timeout, memory, missing_tool, missing, internal, cancelled.
    """

    def __init__(self, key: str, **params: Any) -> None:
        super().__init__(key, params)
        self.key = key
        self.params = params

    @property
    def code(self) -> str:
        """The code for programs."""
        return self.key.partition(".")[0]
