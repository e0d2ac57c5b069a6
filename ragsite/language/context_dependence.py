"""Recognise questions that refer to something said before them, in English and Chinese. Pure."""

import re

from ragsite.language.content_words import content_terms, words
from ragsite.language.simplified import simplified
from ragsite.language.word_lists import INTERROGATIVES_EN, INTERROGATIVES_ZH

# A pronoun refers to something in the question itself if at least this many terms precede it: "mice without interferon
# or its receptor".
ANTECEDENT = 3
# A question that begins like a continuation stands alone if it has more terms than this.
LONGEST_CONTINUATION = 4

_ENGLISH = re.compile(
    r"""
    \b(?:its?|they|them|theirs?|these|those|this|s?he|him|hers?|his|former|latter|above|previous|the\ same)\b
    |\b(?:that|ones?|there|others?)(?=\s*(?:[?.!,;]|$))
    |\bthat(?=\s+(?:one|mean|case)\b)
    # "is that", "how does that", where "that" doesn't join two clauses
    |^(?:\W*(?:and|but|so|ok|well)\W+)?
        (?:is|was|does|did|do|can|will|would|who|(?:what|why|how)\ (?:is|does|did))?\s*that\b
    |\b(?:which|this|another|other|new)\s+ones?\b|\banother\b(?!\s+\w+\s+than)|\bother\b(?!\s+than)
    |\b(?:what|who|where|anything|something)\s+else\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Matched at the beginning of a word only, as jieba segments the text: in 其震级, but not in 土耳其 or in a title. 她 in
# the title 消失的她 is no pronoun either: a pronoun doesn't follow 的.
_CHINESE = re.compile(
    "(?<!的)[它他她]|这|那(?!曲|么多)|前者|后者|上述|上面|刚才|其中|其(?!他|它)|此(?!外)|该(?!怎么|如何)|另一个|还有(?:吗|呢|什么|哪些)"
)
_BEGINS = re.compile(
    r"^\s*(?:and|but|so|also|or|then|what about|how about|why not|what else|for example|such as)\b"
    r"|^\s*(?:那么|那(?!曲)|还有|另外|然后|以及|例如|比如)|呢[?？]?\s*$",
    re.IGNORECASE,
)
_ANOTHER = re.compile(r"^\W*(?:and|but|so)?\s*(?:what|how)\s+about\b|^\W*(?:那么?|还有|而).{1,20}呢\W*$", re.IGNORECASE)
_ASKS = re.compile(
    rf"\b({INTERROGATIVES_EN}|is|are|does|do|did|can|could|should|will)\b|{INTERROGATIVES_ZH}|几|是否|吗",
    re.IGNORECASE,
)
# Questions that name their own subject, or the object of an action: "what is a cursor", "how do I create an index",
# 什么是宏. People who rewrite follow-up questions to stand alone leave nearly all of these unchanged. "The index"
# refers to one mentioned before, and a "difference" is between things mentioned before.
_OPENS = r"^\W*(?:(?:so|ok(?:ay)?|and|now|please|can\ you|could\ you)\W+)*"
_INTRODUCES = re.compile(
    rf"""{_OPENS}(?:
        (?:what(?:['’]s|\ is|\ are|\ was|\ were)|define|explain|describe|tell\ me\ about)\s+(?:an?\s+)?\w
        |what\ do(?:es)?\s.+\s(?:do|mean|stand\ for)\W*$
    )
    |^\W*(?:请问|请)?(?:(?:什么|啥)(?:是|叫做?)|何谓|所谓的?)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_HOW_TO = re.compile(
    rf"{_OPENS}how\ (?:to|(?:do|can|could|should|would)\ (?:i|you|we|one|someone))\b", re.IGNORECASE | re.VERBOSE
)
_GIVEN = re.compile(
    r"\b(?:the|this|that|these|those|its?|they|them|their|he|she|his|her|there|here|(?:an)?other|ones?|same|some|any"
    r"|differen(?:ce|ces|t))\b",
    re.IGNORECASE,
)
# Questions that ask for a measure of something named in the question before.
_ASKS_A_MEASURE = re.compile(
    r"\b(how (long|many|much|often|far|big|large|old|about)|when|where|why)\b"
    r"|多久|多长|多大|多少|几[个天年月次台人]|什么时候|何时",
    re.IGNORECASE,
)


def dependence_on_context(question: str) -> str:
    """Return why a question depends on the questions before it, as a stable slug; an empty string if it stands alone.

    A `pronoun` or a `continuation` refers to them; a `fragment` isn't a sentence, or asks for a measure of something
    that it doesn't name.
    """
    question = simplified(question)
    named = set(content_terms(question))
    if _refers_back(question):
        return "pronoun"
    if _BEGINS.search(question) and len(named) <= LONGEST_CONTINUATION:
        return "continuation"
    fragment = len(named) <= 2 and (not _ASKS.search(question) or _ASKS_A_MEASURE.search(question))
    return "fragment" if fragment or not named else ""


def introduces(question: str) -> bool:
    """Return whether a question names its own subject, asking what it is or how to do something with it."""
    question = simplified(question)
    if _GIVEN.search(question):
        return False
    if _INTRODUCES.search(question):
        return True
    return bool(_HOW_TO.search(question)) and len(set(content_terms(question))) > 1


def names_another(question: str) -> bool:
    """Return whether a question asks the same about something else: "what about the kit?", 那病假呢？

    Single characters of the previous topic, into which jieba split a word such as 年假, would only lead back to it.
    """
    return bool(_ANOTHER.search(simplified(question)))


def _refers_back(question: str) -> bool:
    places = [match.start() for match in _ENGLISH.finditer(question)]
    end = 0
    for word in words(question):
        begin = question.index(word, end)
        end = begin + len(word)
        if _CHINESE.match(question, begin):
            places.append(begin)
    return bool(places) and len(set(content_terms(question[: min(places)]))) < ANTECEDENT
