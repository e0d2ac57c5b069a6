"""Recognise questions that refer to something said before them, in English and Chinese. Pure."""

import re

from ragsite.language.content_words import NAMES_NOTHING, content_terms, is_proper_name, naming_likelihood, words
from ragsite.language.detection import HAN_CHARACTER
from ragsite.language.simplified import simplified
from ragsite.language.word_lists import INTERROGATIVES_EN, INTERROGATIVES_ZH

# A pronoun refers to something in the question itself if at least this many terms precede it: "mice without interferon
# or its receptor". A possessive needs one less, and only one in all if it is joined: "the models and their prices".
ANTECEDENT = 3
POSSESSIVES = frozenset(["its", "their"])
# A question that begins like a continuation stands alone if it has more terms than this.
LONGEST_CONTINUATION = 4
# How many words a question names that stands alone, see `_weight`.
ENOUGH = 2

# Verbs that jieba takes for words of their own, and that name nothing: 库存还有多少.
_STILL_THERE = frozenset({"还有", "还剩"})
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
    "(?<!的)(?:[它他她]|这|那(?!曲|么多))|前者|后者|上述|上面|刚才|其中|其(?!他|它)|此(?!外)|该(?!怎么|如何)|另一个|还有(?:吗|呢|什么|哪些)"
)
_BEGINS = re.compile(
    r"^\s*(?:and|but|so|also|or|then|what about|how about|why not|what else|for example|such as)\b"
    r"|^\s*(?:那么|那(?!曲)|还有|另外|然后|以及|例如|比如)|呢[?？]?\s*$",
    re.IGNORECASE,
)
_ANOTHER = re.compile(r"^\W*(?:and|but|so)?\s*(?:what|how)\s+about\b|^\W*(?:那么?|还有|而).{1,20}呢\W*$", re.IGNORECASE)
# Words that look like references but aren't: an "it" that stands for the clause after it ("is it safe to …"), "the
# same" that compares ("the same as …") or means together, and times that are known without a context.
_NO_REFERENCE = re.compile(
    r"\b(?:is|was|would|will)\s+(?:it|that)\s+(?:be\s+)?(?:(?:still|also|even|really|always|ever)\s+)?"
    r"(?:ok|okay|alright|fine|safe|possible|allowed|permitted|legal|true|necessary|mandatory|required|worth|better|best"
    r"|easy|hard|difficult|normal|common|enough)\b(?=\s+\w)"
    r"|\b(?:how\s+much|what)\s+(?:is|does)\s+it\s+(?:cost\s+)?to\b"
    r"|\bat\s+the\s+same\s+time\b|\bthe\s+same\s+(?:\w+\s+){0,2}as\b(?!\s+(?:before|th(?:at|is|[eo]se|ey|em)|it)\b)"
    r"|\bthis\s+(?:week|weekend|month|quarter|year|morning|evening|afternoon)\b"
    r"|这(?:个月|周|星期|礼拜|季度|学期|年)",
    re.IGNORECASE,
)
# A possessive that is joined to what it refers to: "the models and their prices".
_JOINED = re.compile(
    r"\b(?:and|or)\s+(?:all\s+)?(?:its|their)\b|[及和与、]其|(?:以及|和|与|及)[它他她]们?的", re.IGNORECASE
)
_ASKS = re.compile(
    rf"\b(?:{INTERROGATIVES_EN}|is|are|does|do|did|can|could|should|will)\b"
    r"|\b(?:list|show|give|name|tell|explain|describe|compare|all|every|each)\b"
    rf"|{INTERROGATIVES_ZH}|几|是否|吗|能不能|会不会|可不可以|有没有|是不是|要不要|列出|所有|全部|各",
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


def dependence_on_context(question: str) -> str:
    """Return why a question depends on the questions before it, as a stable slug; an empty string if it stands alone.

    A `pronoun` or a `continuation` refers to them. A `fragment` names less than a question needs: one thing, unless it
    asks what that is, or two without being a sentence. All others stand alone, however common their words are: people
    who ask within a conversation name what they ask about (docs/decisions/followups.md).
    """
    question = simplified(question)
    if _refers_back(question):
        return "pronoun"
    named = _named(question)
    if _BEGINS.search(question) and len(named) <= LONGEST_CONTINUATION:
        return "continuation"
    names = any(naming_likelihood(word) == 1.0 for word in named)
    said = sum(_weight(word) for word in named)
    if said > ENOUGH or (said == ENOUGH and names):
        return "" if said > ENOUGH or _ASKS.search(question) else "fragment"
    return "" if named and introduces(question) else "fragment"


def names_more_than_enough(question: str) -> bool:
    """Return whether a question names more than one that stands alone has to; a follow-up question seldom does."""
    return sum(map(_weight, _named(simplified(question)))) > ENOUGH


def _named(question: str) -> set[str]:
    found = {word.lower() for word in words(question) if not set(content_terms(word)) <= NAMES_NOTHING}
    return found - _STILL_THERE


def _weight(word: str) -> float:
    """Return how much a word names: 2 for names and codes, which are a subject of their own, ½ for 买 and the like."""
    if is_proper_name(word):
        return 2.0
    return 0.5 if len(word) == 1 and HAN_CHARACTER.match(word) else 1.0


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
    known = [match.span() for match in _NO_REFERENCE.finditer(question)]
    known += [match.span() for match in _JOINED.finditer(question) if content_terms(question[: match.start()])]
    places = [(match.start(), match[0].lower() in POSSESSIVES) for match in _ENGLISH.finditer(question)]
    end = 0
    for word in words(question):
        begin = question.index(word, end)
        end = begin + len(word)
        if _CHINESE.match(question, begin):
            places.append((begin, False))
    places = [each for each in places if not any(first <= each[0] < last for first, last in known)]
    if not places:
        return False
    place, is_possessive = min(places)
    return len(set(content_terms(question[:place]))) < ANTECEDENT - is_possessive
