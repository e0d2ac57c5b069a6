"""Question words, whether a text is a question, and what it asks about. Pure."""

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
_INTERROGATIVE = re.compile(
    rf"[?？]|\b(?:{INTERROGATIVES_EN}|{AUXILIARIES})\b|{INTERROGATIVES_ZH}|吗|呢|是否|几", re.IGNORECASE
)
_STATES = re.compile(
    rf"\b(?:{AUXILIARIES}|cannot|might|\w+n['’]t)\b|[.。!！]\s*$"
    r"|是|可以|能够|应当|应该|必须|已经|不能|不得|属于|导致|具有|了(?!解)",
    re.IGNORECASE,
)
# Requests for all that the documents say about a topic. Their other words aren't in any passage.
_SOURCES_EN = (
    r"(?:(?:any|all|most)\s+of\s+)?(?:(?:the|my|our|your|these|those|all|any)\s+)?"
    r"(?:documents?|documentation|docs?|files?|sources?|papers?|texts?|knowledge\s+bases?)"
)
_SAY_EN = r"(?:say|says|saying|said|tell|mention|mentions|state|states|write|written|contain|contains|cover|covers)"
_ANYTHING_EN = r"(?:anything|something|everything|any\s+(?:information|details)|what\s+(?:information|details))"
_ABOUT_TOPIC_EN = re.compile(
    r"^\W*(?:please\s+)?(?:(?:can|could)\s+you\s+)?(?:tell\s+me\s+|show\s+me\s+|find\s+(?:me\s+)?)?(?:"
    rf"what(?:['’]s)?\s+(?:(?:is|was|are|do|does|did|has|have)\s+)?(?:(?:it|they|{_SOURCES_EN})\s+)?{_SAY_EN}\s+"
    rf"(?:(?:me|us|in\s+{_SOURCES_EN})\s+)*(?:about|on|regarding|concerning)\s+(?P<said>.+?)(?:\s+in\s+{_SOURCES_EN})?"
    rf"|(?:(?:is|are)\s+there\s+)?{_ANYTHING_EN}\s+(?:about|on)\s+(?P<held>.+?)\s+in\s+{_SOURCES_EN}"
    rf"|{_ANYTHING_EN}\s+in\s+{_SOURCES_EN}\s+(?:about|on)\s+(?P<inside>.+?)"
    rf"|(?:do|does|did)\s+{_SOURCES_EN}\s+{_SAY_EN}\s+{_ANYTHING_EN}\s+(?:about|on)\s+(?P<any>.+?)"
    rf"|(?:do|does|did)\s+{_SOURCES_EN}\s+(?:mention|cover)\s+(?P<mentioned>.+?)"
    r"|(?<=tell\sme\s)(?:more\s+)?about\s+(?P<told>.+?)"
    r")[\s?.!]*$",
    re.IGNORECASE,
)
_SOURCES_ZH = r"(?:这[些份个]|我的|我们的|所有)?(?:文档|资料|文件|材料|知识库)(?:里面?|中|内|上)?(?:都|是)*"
_CONTENT_ZH = r"(?:内容|说明|规定|信息|介绍|描述|要求)"
_SAYS_ZH = (
    rf"(?:的{_CONTENT_ZH})?(?:都|又|是)*(?:(?:怎么|如何|怎样)(?:说|写|讲|规定|要求|描述|介绍)"
    rf"|[有说写讲]了?些?(?:什么|哪些){_CONTENT_ZH}?)的?"
)
_ABOUT_TOPIC_ZH = re.compile(
    r"^(?:请问|请)?(?:帮我|给我)?(?:找找|查查|[查找]一?下?)?(?:介绍(?:一下|下)(?P<told>.+?)|"
    rf"(?:{_SOURCES_ZH})?(?:关于|有关(?!部门|单位|人员))[“\"]?(?P<asked>.+?)[”\"]?[，,]?(?:{_SOURCES_ZH})?{_SAYS_ZH}"
    rf"|{_SOURCES_ZH}(?:有没有|有|提到了?)?(?:什么|哪些)?(?:关于|有关)(?P<held>.+?)(?:的{_CONTENT_ZH}?)?"
    rf"|{_SOURCES_ZH}(?:有没有|有|怎么|如何)?(?:提到|提及|讲到)(?P<mentioned>[^了过什哪].*?)"
    r")[的吗呢？?。！\s]*$"
)
_WHAT_IS_ZH = re.compile(r"^(?:请问)?什么是([^，。？?]+)[？?。\s]*$")
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


def names_topic(text: str) -> bool:
    """Return whether a text only names what it is about, as keywords do, and asks for nothing about it."""
    return not _INTERROGATIVE.search(simplified(text))


def without_frame(text: str) -> str:
    """Return what a request for all that the documents say is about; other texts are returned unchanged.

    Of the two Chinese forms of "What is X?", the reader understands "X是什么" better.
    """
    for pattern in (_ABOUT_TOPIC_EN, _ABOUT_TOPIC_ZH):
        if match := pattern.match(text):
            return str(next(filter(None, match.groups())))
    return _WHAT_IS_ZH.sub(r"\1是什么？", text)
