"""How much of a query an embedding model understands. Pure."""

import re
from collections.abc import Callable

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fa1f]")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]{2,}")
# A Chinese word is two characters, more often than not.
_HAN_PER_WORD = 2


def understood(text: str, knows: Callable[[str], bool]) -> float:
    """Return the share of a text's words, from 0 to 1, that are in a language for which `knows("en")`, `"zh"` holds.

    A text without a word that tells its language, such as a number, is understood.
    """
    english = len(_LATIN_WORD.findall(text))
    chinese = len(_HAN.findall(text)) / _HAN_PER_WORD
    if not english + chinese:
        return 1.0
    return (english * knows("en") + chinese * knows("zh")) / (english + chinese)
