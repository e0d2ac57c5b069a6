"""How much of a text an embedding model understands. Pure."""

import re
from collections.abc import Set

# The languages that are distinguished.
LANGUAGES = frozenset({"en", "zh"})
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fa1f]")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]{2,}")
# Most Chinese words have two characters.
_HAN_PER_WORD = 2


def share_understood(text: str, unknown: Set[str]) -> float:
    """Return the share of a text's words, from 0 to 1, that are not in one of the unknown `LANGUAGES`.

    A text without words of a known script, such as a number, counts as understood.
    """
    english = len(_LATIN_WORD.findall(text))
    chinese = len(_HAN.findall(text)) / _HAN_PER_WORD
    if not english + chinese:
        return 1.0
    return (english * ("en" not in unknown) + chinese * ("zh" not in unknown)) / (english + chinese)
