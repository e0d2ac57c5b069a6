"""What stands in another's place in Chinese, character by character: its words are cut in more than one way. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from conversations.citations.facts import is_person
from conversations.citations.words import Spelled, is_han, spelled

# The share of a clause's other characters that must stand in the sentence of the source, in their order.
NEARLY_THE_SAME = 0.75
# How many characters around must be the same, on both sides together.
FRAME = 3
# Longer clauses and sentences are not laid side by side: the time grows with the product. In characters.
LONGEST_CLAUSE, LONGEST_SENTENCE = 200, 600
# More characters than these are said in another way rather than exchanged.
LONGEST = 6


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a claim has where its source has something else, and the share of the rest that is the same."""

    mine: str
    theirs: str
    share: float
    surname: str


def exchanged_words(clause: str, sentence: str, source: Sequence[str]) -> Iterator[str]:
    """Yield what of a claim's clause stands in the place of another thing in the sentence of the source next to it.

    Two persons; two nouns without a character in common; or two words that a sentence of the source has side by side.
    """
    if clause.isascii() or len(clause) > LONGEST_CLAUSE or len(sentence) > LONGEST_SENTENCE:
        return
    for found in _exchanges(clause, sentence):
        if found.theirs in clause or found.mine in sentence:
            continue
        if _are_persons(found) or _are_nouns(found) or _are_told_apart(found, source):
            yield found.mine


def _exchanges(clause: str, sentence: str) -> Iterator[Exchange]:
    codes = SequenceMatcher(None, clause, sentence, autojunk=False).get_opcodes()
    same = sum(is_han(one) for kind, start, end, *_ in codes if kind == "equal" for one in clause[start:end])
    length = sum(map(is_han, clause))
    mine, theirs = spelled(clause), spelled(sentence)
    for place, (kind, start, end, from_, to) in enumerate(codes):
        if kind != "replace" or _around(codes, place) < FRAME:
            continue
        surname = clause[start - 1 : start] if start and from_ and clause[start - 1] == sentence[from_ - 1] else ""
        one, other = _whole(mine, start, end), _whole(theirs, from_, to)
        if one and other and max(len(one), len(other)) <= LONGEST and all(map(is_han, one + other)):
            yield Exchange(one, other, same / ((length - (end - start)) or 1), surname)


def _around(codes: Sequence[tuple[str, int, int, int, int]], place: int) -> int:
    """Return how many characters are the same right before and after a stretch, none where one side has none."""
    sides = [codes[at] for at in (place - 1, place + 1) if 0 <= at < len(codes)]
    return sum(end - start for kind, start, end, *_ in sides if kind == "equal")


def _whole(words: Sequence[Spelled], start: int, end: int) -> str:
    """Return the words that a stretch lies in, whole."""
    return "".join(word.text for word in words if word.start < end and start < word.end)


def _are_persons(found: Exchange) -> bool:
    return is_person(found.mine) and is_person(found.theirs)


def _are_nouns(found: Exchange) -> bool:
    alike = set(found.mine) & set(found.theirs)
    return (
        found.share >= NEARLY_THE_SAME
        and not alike
        and min(len(found.mine), len(found.theirs)) > 1
        and _is_noun(found.mine)
        and _is_noun(found.theirs)
    )


def _are_told_apart(found: Exchange, source: Sequence[str]) -> bool:
    both = (found.mine, found.theirs)
    return (
        found.share >= NEARLY_THE_SAME
        and all(map(_is_noun, both))
        and any(all(word in sentence for word in both) for sentence in source)
    )


@lru_cache(4_096)
def _is_noun(text: str) -> bool:
    import rjieba  # reads its dictionary when loaded

    return all(tag.startswith("n") or tag in ("j", "l") for _, tag in rjieba.tag(text))
