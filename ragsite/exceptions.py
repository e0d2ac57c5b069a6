"""What the apps raise for the person who asked to read."""


class Refused(Exception):
    """Something can't be done as asked. `code` is a stable slug, `message` is for the person who asked."""

    def __init__(self, code: str, message: str, wait: int | None = None) -> None:
        """`wait` is in seconds, after which it can be asked again; None where nobody knows."""
        super().__init__(message)
        self.code, self.message, self.wait = code, message, wait
