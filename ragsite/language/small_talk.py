"""Recognise greetings, thanks, farewells and other messages that need no documents, in English and Chinese. Pure."""

import re

from ragsite.language.simplified import as_written, simplified
from ragsite.language.word_lists import GREETINGS_EN, GREETINGS_ZH, alternatives

_CHAT = re.compile(
    rf"""^\W*(
        {GREETINGS_EN}|good\s+night
        |(hi|hello|hey)\s+(there|all|everyone|ragsite)
        |((ok(ay)?|great|perfect|nice|cool|good|yes|got\s+it)\W+)?
            (thanks?(\s+(you|a\s+lot|so\s+much|very\s+much))*|thank\s+you(\s+(so|very)\s+much)?|cheers|thx)
            (\s+for\s+(all\s+)?(your|the)\s+((quick|great|good)\s+)?(help|answers?|support|explanations?))?
            (\W+(that|this|it)(['’]s|\s+(was|is|really))*\s+(all|help(ed|s|ful)|work(ed|s)|useful|great|perfect)(\s+a\s+lot)?)?
        |ok(ay)?|great|perfect|nice|cool|got\s+it|bye|goodbye|see\s+you
        |who\s+are\s+you|what\s+(are\s+you|can\s+you\s+do)(\s+for\s+(me|us))?|how\s+are\s+you(\s+doing)?|help
        |(({GREETINGS_ZH})[啊呀哈]?\W*)?在吗|({GREETINGS_ZH})啊?|晚安
        |((好的?|好吧|明白了?|知道了|行|嗯)\W*)?(谢谢|多谢|感谢)(你们?|您|大家|啦|了)?(的?(帮助|帮忙|回答|解答|支持))?(\W*(很|非常|真|太)?(有帮助|有用|好用|好))?
        |好的?|好吧|明白了?|知道了|再见|拜拜
        |你是谁|你叫什么(名字)?|你能(做|干)(什么|些什么|啥)|你会(做)?什么|帮助
    )(\W*(ragsite|呀|啊|哦|了|吗|呢|ok))?\W*$""",
    re.IGNORECASE | re.VERBOSE,
)
_KINDS = {
    kind: re.compile(pattern, re.IGNORECASE)
    for kind, pattern in {
        "thanks": r"\b(thanks?|thx|cheers)\b|谢|感谢",
        "farewell": r"\b((good)?bye|see you|good night)\b|再见|拜拜|晚安",
        "help": r"\b(who are you|what (are|can) you|help)\b|你是谁|你叫什么|你能|你会|帮助",
        "greeting": rf"\b({GREETINGS_EN}|how are you)\b|{GREETINGS_ZH}|在吗",
        "agreed": r"^\W*(ok(ay)?|great|perfect|nice|cool|got it)\b|^\W*(好的?|好吧|明白了?|知道了)",
    }.items()
}
_TRANSLATE = re.compile(
    r"""^\W*(?:(?:please|ok|now|and|(?:can|could|would)\ you)\W+)*translate
        (?:\s+(?:it|this|that|these|those|everything|your|the\s+(?:above|answer|last))\b|\s.*\b(?:in)?to\s+(?-i:[A-Z]))
    |^\W*(?:请|帮我|麻烦|再|能否|可以)*[你您]?(?:把.{1,40}?)?(?:翻译|译)(?:[成为这那]|一下|上面)""",
    re.IGNORECASE | re.VERBOSE,
)
_TOPICS_EN, _TOPICS_ZH = alternatives("topic_questions")
_TOPICS = re.compile(rf"\W*(?:{_TOPICS_EN}|{_TOPICS_ZH})\W*", re.IGNORECASE)
_PRONOUNS = re.compile(
    r"\b(it|its|they|them|their|this|that|these|those|he|she|him|her|his|the former|the latter|former|latter|there)\b"
    r"|它们?|(?<!其)他们?|她们?|这个|那个|这些|那些|这位|那位|这里|那里|前者|后者|上述",
    re.IGNORECASE,
)


def is_small_talk(message: str) -> bool:
    """Return whether a message is only a greeting, thanks, a farewell, "who are you" or the like."""
    return bool(_CHAT.match(simplified(message.strip()))) or asks_for_topics(message)


def asks_for_topics(message: str) -> bool:
    """Return whether a message asks what can be asked: "What can I ask you?", 你能回答什么."""
    return bool(_TOPICS.fullmatch(simplified(message)))


def kind_of(message: str) -> str:
    """Return the kind of small talk: `thanks`, `farewell`, `help`, `greeting`, `agreed`, or an empty string."""
    text = simplified(message)
    return next((kind for kind, pattern in _KINDS.items() if pattern.search(text)), "")


def pointer_in(message: str) -> str:
    """Return the first word of a message that refers to something said before, or an empty string."""
    found = _PRONOUNS.search(simplified(message))
    return as_written(found[0], message) if found else ""


def asks_to_translate(message: str) -> bool:
    """Return whether a message asks for a translation, rather than about translating."""
    return bool(_TRANSLATE.search(simplified(message)))
