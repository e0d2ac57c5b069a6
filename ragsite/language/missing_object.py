"""Recognise questions that don't name the thing they ask about: "How long does it take?", 那明天呢？ Pure.

In English the position of a word decides: every clause has a predicate, so the only content word beside a pronoun is
the predicate unless it is in the position of a noun. In Chinese its part of speech in jieba's dictionary decides. In
doubt, a question counts as complete and is searched. This applies to first questions only: a later question may have
its object in the conversation.
"""

import re

from ragsite.language.analysis import terms
from ragsite.language.content_words import NAMES_NOTHING, content_terms
from ragsite.language.context_dependence import dependence_on_context, introduces
from ragsite.language.detection import language_of
from ragsite.language.simplified import simplified
from ragsite.language.word_lists import INTERROGATIVES_EN, INTERROGATIVES_ZH, words_of

# Further words that don't name anything to look up: English particles of verbs beside a pronoun, and Chinese words that
# jieba tags as nouns, times or verbs.
_PARTICLES = frozenset(terms(" ".join(words_of("verb_particles"))))
_NAMES_NOTHING_ZH = frozenset(words_of("names_nothing_zh"))
# jieba's tags for words that don't name an object: pronouns, numbers, positions, adjectives and function words.
_NO_OBJECT_TAGS = re.compile(r"[acdefmopqruyz]")
# Nouns that it tags with "zg", like the verb 丢.
_NOUNS_ZH = frozenset("车村刊泵炉桶糖奶")

_ASKS = re.compile(
    rf"[?？]|\b({INTERROGATIVES_EN}|can|could|would|please|tell|explain|give)\b|{INTERROGATIVES_ZH}|几|多久|是否|吗|呢|请|再",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|theirs?|he|him|his|she|hers?|this|that|these|those|ones?)\b|^\W*which\s+(?:is|are|was|of)\b",
    re.IGNORECASE,
)
# Matched against whole words; 也 and 还 add to something said before.
_PRONOUN_ZH = re.compile("[它他她]们?|[这那](?![里儿曲]).*|前者|后者|上面|别的|其他|反过来|也|还|再")
_YEAR = re.compile(r"(?:19|20)\d\d年?")
_WORD = re.compile(r"\w+(?:[-.'’/+#@&:]\w+)*|[^\w\s]")
# Words that a noun follows, possibly after others: "the other two lamps".
_BEFORE_A_NOUN = frozenset(words_of("determiners"))
# After "is this" or "why does that", the only content word is a predicate, not a noun.
_POINTS_AT_ONE = frozenset(["this", "that", "these", "those"])
_ITS_PREDICATE = re.compile(
    r"^\W*(?:(?:and|but|so|why|how|when|where|since|if)\W+)*"
    r"(?:is|are|was|were|does|do|did|can|could|will|would|should|has|have|must|may)\W+(?:this|that|these|those)$",
    re.IGNORECASE,
)
# "Is it safe to …", "is it true that …": the object follows.
_OBJECT_FOLLOWS = re.compile(r"\bit\W+(?:\w+\W+){1,2}(?:to|that|if|when|whether)\b", re.IGNORECASE)


def lacks_object(question: str) -> bool:
    """Return whether a question asks about something that it doesn't name; keywords always name it."""
    question = simplified(question)
    depends = dependence_on_context(question)
    if introduces(question) or not (depends in ("pronoun", "continuation") or _ASKS.search(question)):
        return False
    if language_of(question) == "zh":
        return _lacks_chinese(question, bool(depends))
    continues = depends == "continuation"
    has_pronoun = bool(_PRONOUN.search(question))
    nothing = NAMES_NOTHING | _PARTICLES if has_pronoun else NAMES_NOTHING
    found = list(_WORD.finditer(question))
    content = [
        place
        for place, match in enumerate(found)
        if set(content_terms(match.group())) - nothing and not (continues and _YEAR.fullmatch(match.group()))
    ]
    if len(content) != 1:
        return not content
    (place,) = content
    word = found[place].group()
    is_name = re.search(r"\d|\B[A-Z]", word) or (place and word != word.lower())
    if not has_pronoun or is_name or _OBJECT_FOLLOWS.search(question):
        return False
    before = place - 1
    while before >= 0 and set(terms(found[before].group())) & nothing:
        before -= 1
    led_by = found[before].group().lower() if before >= 0 else ""
    if led_by in _POINTS_AT_ONE:
        return bool(_ITS_PREDICATE.match(question[: found[before].end()]))
    return led_by not in _BEFORE_A_NOUN


def _lacks_chinese(question: str, depends: bool) -> bool:
    import rjieba  # reads its dictionary when loaded

    has_pronoun, verbs = False, 0
    for word, kind in rjieba.tag(question, True):
        if _PRONOUN_ZH.fullmatch(word):
            has_pronoun = True
        elif not terms(word) or word in _NAMES_NOTHING_ZH or (depends and _YEAR.fullmatch(word)):
            continue
        elif word in _NOUNS_ZH or re.search(r"[0-9A-Za-z]", word):
            return False
        elif kind.startswith("v"):
            verbs += 1
        elif not _NO_OBJECT_TAGS.match(kind):
            return False
    return verbs <= has_pronoun
