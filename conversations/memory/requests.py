"""Recognition of messages that ask the site to remember something. Pure."""

import re
from dataclasses import dataclass

from ragsite.language.simplified import as_written, simplified
from ragsite.language.word_lists import GREETINGS_EN, GREETINGS_ZH, INTERROGATIVES_ZH

_ASKED = re.compile(
    rf"""^\W*
    (?:(?:(?:from\s+now\s+on|by\s+the\s+way|and|also|ok(?:ay)?|{GREETINGS_EN})\b
        |从现在(?:起|开始)|以后|今后|另外|对了|顺便|{GREETINGS_ZH}|好的?)[\s,，.。:：!！]*){{0,3}}
    (?:
        (?:(?:please|kindly|(?P<politely>can|could|would|will)\s+you|i\s+want\s+you\s+to|i['’]d\s+like\s+you\s+to)\s+)*
        (?:remember|memori[sz]e|keep\s+in\s+mind|bear\s+in\s+mind|don['’]?t\s+forget)
        (?:(?P<set_off>\s*[:：,，]\s*|\s+this\s*[:：]\s*|\s+that\s+)|\s+(?=(?:i|i['’]m|i['’]ve|my|we|our)\b))
        |(?:(?:请|麻烦|烦请|帮我|你要|你|务必|一定要)\s*)*
        (?:记住|牢记|记下来?|记一下|别忘了|不要忘记|记得(?=\s*[:：,，]))(?:了|哦|啊|吧)?
            (?:(?:这个|这一?点|这件事)(?=\s*[:：,，]))?(?P<apart>\s*[:：,，])?\s*
    )(?P<fact>.+)$""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_THANKS = re.compile(
    r"[\s,，.。]*\b(?:please|thanks|thank\s+you)[\s.!?]*$|[\s,，。]*(?:谢谢|好吗|可以吗|好不好)[\s。!！?？]*$",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？]\W*$|[吗嘛呢]\W*$")
# English needs its question mark: "remember what I said" is not a question.
_ASKING = re.compile(f"{INTERROGATIVES_ZH}|几个")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


@dataclass(frozen=True, slots=True)
class Request:
    """A fact to remember, and whether the message asks for nothing else."""

    fact: str
    alone: bool


def read_request(message: str) -> Request | None:
    """Return the fact that a message asks to remember, or None, also for a question about what is remembered.

    If the message ends with a question, the fact is its first sentence.
    """
    match = _ASKED.match(simplified(message.strip()))
    if match is None:
        return None
    text = _THANKS.sub("", match["fact"])
    if match["politely"] and match["set_off"]:
        text = text.rstrip(" ?？")
    sentences = [part for part in _SENTENCE_END.split(text) if part.strip()]
    if len(sentences) > 1 and _QUESTION.search(sentences[-1]):
        return _request(sentences[0], message, alone=False)
    asks = _QUESTION.search(text) or (_ASKING.search(text) and not (match["set_off"] or match["apart"]))
    return None if asks else _request(text, message, alone=True)


def _request(text: str, message: str, *, alone: bool) -> Request | None:
    fact = " ".join(as_written(text, message).split()).strip(" ,，:：.。!！")
    return Request(fact, alone) if len(fact) > 1 and not _QUESTION.search(simplified(fact)) else None
