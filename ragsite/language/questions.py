"""Question words, and whether a text is a question. Pure."""

import re
from functools import cache

from ragsite.language.analysis import terms
from ragsite.language.detection import HAN_CHARACTER
from ragsite.language.simplified import simplified
from ragsite.language.word_lists import INTERROGATIVES_EN, INTERROGATIVES_ZH, words_of

# Signs of a question or a request, anywhere in a text or at its beginning. A long text without any is a statement if it
# has a finite verb or ends in a full stop.
AUXILIARIES = "|".join(words_of("auxiliaries"))
_ASKS = re.compile(
    rf"[?？]|\b(?:what|how|why)\b|\b(?:when|where)\s+(?:{AUXILIARIES})\b|(?:^\W*|[,;.]\s+)(?:{AUXILIARIES})\b"
    rf"|^\W*(?:(?:and|but|so|in|for|from|to|by|at|on|under|with|until|since|about)\s+)?(?:{INTERROGATIVES_EN})\b"
    r"|^\W*(?:please|tell|show|give|list|find|explain|describe|summari[sz]e|compare|name|look\s+up|search"
    r"|i\s+(?:want|need|would\s+like)|i['’]d\s+like)\b"
    rf"|{INTERROGATIVES_ZH}|几|吗|呢|是否|[能可]否|有没有|是不是|请|想|告诉|介绍|说明|列出|列举|查|找|总结|概括|比较|解释",
    re.IGNORECASE,
)
_STATES = re.compile(
    rf"\b(?:{AUXILIARIES}|cannot|might|\w+n['’]t)\b|[.。!！]\s*$"
    r"|是|可以|能够|应当|应该|必须|已经|不能|不得|属于|导致|具有|了(?!解)",
    re.IGNORECASE,
)
_LONG = 7  # words; a Chinese word has about two characters


@cache  # built on first use: loading jieba's dictionary would add a quarter of a second to every start
def question_words() -> frozenset[str]:
    """Return the terms of question words, which don't name anything to search for."""
    return frozenset([*terms(" ".join(words_of("question_words"))), *words_of("question_characters")])


def asks(text: str) -> bool:
    """Return whether a text is a question, a request or keywords rather than a statement."""
    text = simplified(text)
    length = len(HAN_CHARACTER.findall(text)) / 2 + len(re.findall(r"[^\W\d_]+", HAN_CHARACTER.sub(" ", text)))
    return length < _LONG or bool(_ASKS.search(text)) or not _STATES.search(text)
