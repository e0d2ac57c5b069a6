"""Make text storable: combine surrogates, and remove characters that can't be stored; and which ones are invisible."""

# White space, control characters, and invisible formatting characters, as a character class of regular expressions.
INVISIBLE = (
    r"\s\x00-\x1f\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
)


class TextMender:
    """Combines surrogate pairs across pieces of text.

    A server that splits its answer in UTF-16 may send an emoji as two escapes in two frames, neither of which is a
    character. Pairs are combined, other surrogates become U+FFFD, and null characters are dropped.
    """

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        """Return the complete characters; a leading surrogate at the end waits for the next piece."""
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return whole(text[: len(text) - len(self._half)])

    def close(self) -> str:
        """Return the replacement for an unpaired surrogate at the end."""
        half, self._half = self._half, ""
        return whole(half)


def whole(text: str) -> str:
    """Return a complete text without nulls, and with U+FFFD for unpaired surrogates."""
    text = text.replace("\x00", "")
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
