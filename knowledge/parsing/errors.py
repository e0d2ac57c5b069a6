"""Why a file can't be read."""

from typing import Any


class ParseError(Exception):
    """A file that can't be ingested.

    `key` stands for a sentence of `knowledge.explanations`, into which the JSON-safe `params` are put. It is a stable
    `code` for programs, and where several sentences share that, a dot and a name.

    Codes: empty, encrypted, broken, unsupported, too_many_pages, too_many_rows, too_many_attachments, too_large,
    no_text, timeout, memory, missing_tool, missing, internal, cancelled.
    """

    def __init__(self, key: str, **params: Any) -> None:
        super().__init__(key, params)
        self.key = key
        self.params = params

    @property
    def code(self) -> str:
        """What programs know it by."""
        return self.key.partition(".")[0]
