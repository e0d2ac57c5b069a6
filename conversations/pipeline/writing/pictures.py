"""Removes pictures from a model's Markdown. Pictures of cited passages are blocks of their own; any other is foreign.

The page loads no foreign picture and shows its description instead. The stored text must say the same: a program, an
exported file or a pasted answer would load the picture, and thereby tell its server who reads the answer.
"""

import re

# The description and the address of a picture, which may contain brackets and a line break, but no empty line.
_ALT = r"(?:[^\[\]\n]|\n(?!\n)|\[[^\[\]\n]*\]){0,300}+"
_ADDRESS = r"(?:[^()\n]|\n(?!\n)|\([^()\n]*\)){0,2000}+"
_TAG = r"<img\b[^<>]{0,2000}+"
# Other elements that load something.
_LOADING = r"(?:img|image|svg|picture|source|video|audio|track|iframe|object|embed|link|style|input)"
# What may precede a block at the beginning of a line: quotation marks and list markers.
_MARGIN = r"(?<=\n)[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*"
# A name for an address, which a picture may use instead of the address.
_NAMED = rf"{_MARGIN}\[(?!\d+\])[^\[\]\n]{{1,100}}\]"
_STEP = re.compile(
    rf"(?P<fence>{_MARGIN}(?P<marks>`{{3,}}|~{{3,}}))|(?P<ticks>`+)|(?P<line>\n)|\\[!<\\]"
    rf"|(?P<picture>!\[(?P<alt>{_ALT})\]\({_ADDRESS}\))|(?P<tag>{_TAG}>)"
    rf"|(?P<named>{_NAMED}):(?=\s{{0,20}}<?(?:[a-z][a-z0-9+.-]{{1,20}}:|/))"
    rf"|(?P<endless>!(?=\[{_ALT}(?:\]\(|[^\[\]]))|<(?={_LOADING}\b))",
    re.IGNORECASE,
)
# The end of a piece that may be the beginning of any of these.
_OPEN = re.compile(
    rf"(?:(?<!`)`++|(?<!\\)\\*+(?:!(?:\[{_ALT}(?:\[[^\[\]\n]{{0,300}}|\](?:\({_ADDRESS}(?:\([^()\n]{{0,300}})?)?)?)?"
    rf"|<[a-z]{{0,7}}|{_TAG}|(?<=\\))|{_MARGIN}(?:[-*+]|\d{{1,9}}[.)]?|`+|~+|\[[^\[\]\n]{{0,100}})?"
    rf"|{_NAMED}(?::\s{{0,20}}<?[a-z0-9+.-]{{0,20}})?)\Z",
    re.IGNORECASE,
)
_ALT_OF_TAG = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)


class PictureFilter:
    """Takes pieces of Markdown, cut anywhere, and returns them with descriptions instead of pictures.

    Code is kept. The end of a piece that may be the beginning of a picture is held back; one that doesn't end becomes
    text, by a backslash before it.
    """

    def __init__(self) -> None:
        self.dropped = 0  # the number of pictures
        self._held = ""
        self._before = "\n"  # the character before what is held back
        self._ticks = ""  # the backticks that opened the current inline code
        self._fence = ""  # the marks that opened the current indented block of code

    def feed(self, text: str) -> str:
        """Take a piece and return the text that is certain."""
        text = self._held + text
        match = _OPEN.search(self._before + text, 1)
        end = match.start() - 1 if match else len(text)
        self._held = text[end:]
        return self._read(text[:end])

    def close(self) -> str:
        """Return the text that was held back; what follows begins a line."""
        held, self._held = self._held, ""
        text = self._read(held)
        self._before, self._ticks, self._fence = "\n", "", ""
        return text

    def _read(self, text: str) -> str:
        text, end, parts = self._before + text, 1, []
        for match in _STEP.finditer(text, 1):
            parts += [text[end : match.start()], self._pass(match)]
            end = match.end()
        self._before = text[-1]
        return "".join([*parts, text[end:]])

    def _pass(self, match: re.Match[str]) -> str:
        text = match[0]
        if match["line"]:
            self._ticks = ""  # inline code ends with its line at the latest
        elif marks := match["marks"]:
            if not self._fence:
                self._fence = marks
            elif marks.startswith(self._fence):
                self._fence = ""
        elif self._fence:
            return text
        elif ticks := match["ticks"]:
            self._ticks = "" if ticks == self._ticks else self._ticks or ticks
        elif self._ticks:
            return text
        elif match["picture"]:
            self.dropped += 1
            return match["alt"]
        elif match["tag"]:
            self.dropped += 1
            alt = _ALT_OF_TAG.search(text)
            return (alt[1] or alt[2] or "") if alt else ""
        elif match["named"]:
            return f"{match['named']} :"
        elif match["endless"]:
            return f"\\{text}"
        return text


def without_pictures(text: str) -> str:
    """Return a whole Markdown text with descriptions instead of pictures."""
    reader = PictureFilter()
    return reader.feed(text) + reader.close()
