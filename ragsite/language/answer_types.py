"""The kind of answer that a question asks for, in English and Chinese. Pure."""

import re
from dataclasses import dataclass

from ragsite.language.simplified import simplified
from ragsite.language.word_lists import words_of

_PROCEDURE = re.compile(r"\bhow (do|can|to|should|would|does)\b|\bsteps?\b|怎么|怎样|如何|步骤|方法", re.IGNORECASE)
_EXPLANATION = re.compile(
    r"\bwhy\b|\bexplain\b|\bdescribe\b|\bwhat (?:is|are|does)\b|为什么|为何|解释|说明|介绍|什么是|是什么", re.IGNORECASE
)
_PICTURE = re.compile(
    r"\b(picture|figure|diagram|image|photo|screenshot|chart|drawing|look like)\b|图|照片|截图|长什么样", re.IGNORECASE
)
_LIST = re.compile(
    r"\b(?:which|what) (?:\w+ ){1,3}(?:are|were|do|have)\b|\b(?:list|all|every|each)\b|哪些|所有|全部|列出",
    re.IGNORECASE,
)
# A question for a thing, not for a place or a time: 哪里, 哪天.
_WHICH = re.compile(
    r"\b(?:which|who|whose)\b|\bwhat (?:kind|type|model|sort|make|brand|product|version)\b"
    r"|哪(?![里儿天年月日边怕])|谁|(?:什么|何种)(?:型号|种类|产品|类型|牌子|人)",
    re.IGNORECASE,
)
_BROAD = re.compile(
    r"\b(?:overview|summar(?:y|ise|ize)|compar(?:e|ed|ison)|differ(?:ence|ences|ent|s)?|versus|vs|respectively"
    r"|all (?:the )?\w+s|every|which (?:documents|files|products|models|versions))\b"
    r"|概述|概括|总结|综述|汇总|比较|对比|区别|差异|不同|分别|所有|全部|各个|各种|哪些(?:文档|文件|产品|型号|版本)",
    re.IGNORECASE,
)

_ENDS = {*words_of("lowest"), *words_of("highest")}
_ENDS_EN = "|".join(sorted(filter(str.isascii, _ENDS)))
_ENDS_ZH = "|".join(sorted((word for word in _ENDS if not word.isascii()), key=len, reverse=True))
# "At most" and 最多可借 are limits.
_SUPERLATIVE = re.compile(
    rf"(?<!\bat )(?<!\bat the )\b(?P<word>{_ENDS_EN})(?:\s+(?P<adjective>expensive|costly))?\b"
    rf"|最(?P<word_zh>{_ENDS_ZH})(?=的|是|[？?，,。\s]|$)",
    re.IGNORECASE,
)


def asks_which(question: str) -> bool:
    """Return whether a question asks which of several things something is true of."""
    return bool(_WHICH.search(simplified(question)))


def is_broad(question: str) -> bool:
    """Return whether a question asks for an overview or a comparison, which one document seldom answers alone."""
    return bool(_BROAD.search(simplified(question)))


def wants_procedure(question: str) -> bool:
    """Return whether a question asks how to do something."""
    return bool(_PROCEDURE.search(simplified(question)))


def wants_explanation(question: str) -> bool:
    """Return whether a question asks what something is, or why."""
    return bool(_EXPLANATION.search(simplified(question)))


def wants_picture(question: str) -> bool:
    """Return whether a question asks for a picture."""
    return bool(_PICTURE.search(simplified(question)))


def wants_list(question: str) -> bool:
    """Return whether a question asks for a list of things of a kind."""
    return bool(_LIST.search(simplified(question)))


@dataclass(frozen=True, slots=True)
class Superlative:
    """A superlative as written, its word and further adjective ("most", "expensive"; 便宜), and its place in a text."""

    text: str
    word: str
    adjective: str
    start: int
    end: int


def superlative_in(text: str) -> Superlative | None:
    """Return the first superlative of a text that is the lower or the upper end of an order, or None."""
    found = _SUPERLATIVE.search(simplified(text))
    if found is None:
        return None
    word = found["word"] or found["word_zh"]
    start, end = found.span()
    return Superlative(text[start:end], word.lower(), (found["adjective"] or "").lower(), start, end)
