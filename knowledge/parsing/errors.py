"""Why a file can't be read, in words that a person can act on."""


class ParseError(Exception):
    """A file that can't be ingested. `code` is a stable slug, the message is shown to the uploader.

    Codes: empty, encrypted, broken, unsupported, too_many_pages, too_many_rows, too_large, no_text, timeout,
    memory, missing_tool.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
