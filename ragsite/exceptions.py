"""Exceptions whose messages are shown to the user."""


class Refused(Exception):
    """The request can't be carried out. `code` is a stable slug for programs, `message` is for the user."""

    def __init__(self, code: str, message: str, wait: int | None = None) -> None:
        """Set the code and the message; `wait` is the number of seconds before another try, None if unknown."""
        super().__init__(message)
        self.code, self.message, self.wait = code, message, wait
