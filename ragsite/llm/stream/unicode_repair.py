"""Text made storable: halves of characters put together, and what no database takes left out."""


class TextMender:
    """Pieces in, pieces out.

    A server that cuts its answer by UTF-16 sends an emoji as two escapes in two frames; neither half is a character.
    Halves that meet become one, others U+FFFD. Null characters are dropped.
    """

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        """Return what is whole by now; half a character at the end waits for the next piece."""
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return whole(text[: len(text) - len(self._half)])

    def close(self) -> str:
        """Return what stands for a half that has waited in vain."""
        half, self._half = self._half, ""
        return whole(half)


def whole(text: str) -> str:
    """Return a text that is not a piece of one, without nulls, and with U+FFFD for halves of characters."""
    text = text.replace("\x00", "")
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
