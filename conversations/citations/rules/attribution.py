"""Numbers and names that the source states only of something else. Pure."""

import re
from collections.abc import Iterator, Sequence, Set
from typing import Literal

from conversations.citations.source import Clause, Source, split_clauses, terms_without_numbers
from ragsite.language.facts import are_alike, is_named, names
from ragsite.language.quantities import Quantity, is_rough, quantities
from ragsite.language.word_tokens import word_tokens

# A clause of a claim is based on a clause of the source that contains this share of its words.
BASED_ON = 0.5
# A clause with fewer words is too short to find its basis.
LEAST_WORDS = 4
# A fact is misplaced if the clauses that contain it share less than this part of what the best clause shares.
MISPLACED = 0.7
# The most numbers of a claim, and the most clauses containing one, to compare: hostile texts must not take long.
MOST_NUMBERS, MOST_CLAUSES = 20, 50
# A claim is about one of two parallel clauses if it has this share of the words that the other lacks.
ABOUT_ONE = 0.6
# A clause that shares this much may be about the same as a claim, if the same words are this many characters apart.
SAME_SUBJECT, _BESIDE = 0.3, 30
# Numbers at most this many characters apart are parts of one date.
PART_OF_A_DATE = 3


def misplaced(text: str, source: Source) -> Iterator[tuple[Literal["number", "name"], str]]:
    """Yield the numbers and names of a claim that the source states only of something else.

    The basis of the claim, or of one of its clauses, has another fact of the same kind in its place.
    """
    for whole, units in ((False, split_clauses(text)), (True, [text])):
        for unit in units:
            yield from (("number", number) for number in _misplaced_numbers(unit, source, whole))
            yield from (("name", name.strip("“”")) for name in _misplaced_names(unit, text, source, whole))
    # Numbers swapped between two parallel clauses: the claim uses words of one clause with the number of the other.
    mine = quantities(text)[:MOST_NUMBERS]
    wanted = terms_without_numbers(text)
    for quantity in mine:
        if quantity.spelled or is_rough(text, quantity):
            continue
        having = [other for other in source.clauses if _among(quantity, other.quantities)][:MOST_CLAUSES]
        rivals = [other for other in source.clauses if _has_rival(other, quantity, mine)][:MOST_CLAUSES]
        others = [other for other in mine if other is not quantity]
        if having and all(
            any(_is_of(wanted, rival, other, source) and not _agree(others, other, rival) for rival in rivals)
            for other in having
        ):
            yield "number", text[quantity.start : quantity.end].strip()


def counterpart(text: str, what: str, source: Source) -> str:
    """Return the source's text in place of a number of a claim; empty if that is uncertain.

    The clause or sentence that is the claim's basis must have exactly one number of that kind that the claim lacks, or
    exactly one next to the same words.
    """
    mine = quantities(text)
    wrong = next((quantity for quantity in mine if text[quantity.start : quantity.end].strip() == what), None)
    if wrong is None:
        return ""
    beside = _words_beside(text, wrong)
    clause = next((clause for clause in split_clauses(text) if what in clause), text)
    for whole, unit in ((False, clause), (True, clause), (True, text)):
        wanted = terms_without_numbers(unit)
        basis = source.basis(wanted, whole)
        if basis is None or source.share(wanted, basis) < SAME_SUBJECT:
            continue
        rivals: dict[str, int] = {}  # by the source's text, how many of the words next to them the claim has too
        for other in basis.quantities:
            if other.kind == wrong.kind and not other.spelled and not _among(other, mine):
                signed = basis.text[max(other.start - 1, 0) : other.start] in tuple("¥￥€$£")
                written = basis.text[other.start - signed : other.end].strip(" .,，。")
                rivals[written] = len(beside & _words_beside(basis.text, other))
        best = [rival for rival, alike in rivals.items() if alike == max(rivals.values())]
        if len(best) == 1 and (rivals[best[0]] or _basis(wanted, source, whole)):
            return best[0]
        if rivals:
            return ""
    return ""


def _words_beside(text: str, quantity: Quantity) -> set[tuple[str, str]]:
    """Return the content words right before and after a number, with their sides."""
    before = [word.key for word in word_tokens(text[: quantity.start][-_BESIDE:]) if word.is_content_word]
    after = [word.key for word in word_tokens(text[quantity.end :][:_BESIDE]) if word.is_content_word]
    return {("before", word) for word in before[-1:]} | {("after", word) for word in after[:1]}


def _basis(wanted: Set[str], source: Source, whole: bool) -> Clause | None:
    """Return the clause, or the `whole` sentence, that is the basis of some words, or None if that is unclear."""
    basis = source.basis(wanted, whole)
    is_clear = basis is not None and len(wanted) >= LEAST_WORDS and source.share(wanted, basis) >= BASED_ON
    return basis if is_clear else None


def _misplaced_numbers(unit: str, source: Source, whole: bool) -> Iterator[str]:
    mine = quantities(unit)
    wanted = terms_without_numbers(unit)
    basis = _basis(wanted, source, whole) if mine else None
    if basis is None:
        return
    for quantity in mine:
        if quantity.spelled or is_rough(unit, quantity) or not _has_rival(basis, quantity, mine):
            continue
        what = unit[quantity.start : quantity.end].strip()
        having = [other for other in source.units(whole) if _among(quantity, other.quantities)]
        if having and _is_elsewhere(unit, what, wanted, having, basis, source):
            yield what


def _misplaced_names(unit: str, text: str, source: Source, whole: bool) -> Iterator[str]:
    full_names: list[str] = []  # joined, such as Agnes T. Dunbar
    for name in names(unit):
        before = re.escape(full_names[-1]) if full_names else "(?!)"
        if longer := re.search(rf"{before}\s+(?:[A-Z]\.\s+)?{re.escape(name)}", unit):
            full_names[-1] = longer[0]
        else:
            full_names.append(name)
    words = terms_without_numbers(unit) if full_names else set()
    for name in full_names:
        wanted = words - terms_without_numbers(name)
        basis = _basis(wanted, source, whole)
        if basis is None:
            continue
        last = name.split()[-1]
        having = [other for other in source.units(whole) if is_named(last, other.text) or is_named(last, other.subject)]
        rivals = [other for other in basis.names if are_alike(last, other) and not is_named(other, text)]
        is_about = any(_is_about(unit, name, other, basis) for other in having)
        if rivals and not is_about and _is_elsewhere(unit, name, wanted, having, basis, source):
            yield name


def _among(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    return any(map(quantity.agrees, others))


def _is_elsewhere(
    clause: str, fact: str, wanted: Set[str], having: Sequence[Clause], basis: Clause, source: Source
) -> bool:
    """Return whether the clauses that have a fact share much less with a claim's clause than its basis does.

    In the sentence of the basis, a word or number of the claim that only such a clause has is enough.
    """
    beside = [other for other in having if other.sentence == basis.sentence]
    if basis in having or any(_is_about(clause, fact, other, basis) for other in beside):
        return False
    best = max((source.share(wanted, other) for other in having), default=0.0)
    return best < MISPLACED * source.share(wanted, basis)


def _is_about(clause: str, fact: str, having: Clause, basis: Clause) -> bool:
    """Return whether a claim's clause has, besides a fact, a word or another kind of number that only `having` has."""
    mine = quantities(clause)
    rest = clause.replace(fact, " ")
    for quantity in mine:
        rest = rest.replace(clause[quantity.start : quantity.end], " ")
    if terms_without_numbers(rest) & (having.terms - basis.terms):
        return True
    place = clause.find(fact)
    ours = {quantity.kind for quantity in mine if quantity.start < place + len(fact) and place < quantity.end}
    apart = [
        quantity
        for quantity in mine
        if quantity.kind not in ours and max(quantity.start - place - len(fact), place - quantity.end) > PART_OF_A_DATE
    ]
    return _agree(apart, having, basis)


def _agree(others: Sequence[Quantity], having: Clause, rival: Clause) -> bool:
    """Return whether another number of the claim is in the first clause and not in the second."""
    return any(_among(other, having.quantities) and not _among(other, rival.quantities) for other in others)


def _has_rival(clause: Clause, quantity: Quantity, mine: Sequence[Quantity]) -> bool:
    """Return whether a clause lacks a number but has one of the same kind that the claim lacks."""
    return not _among(quantity, clause.quantities) and any(
        other.kind == quantity.kind and not _among(other, mine) for other in clause.quantities
    )


def _is_of(wanted: Set[str], rival: Clause, having: Clause, source: Source) -> bool:
    """Return whether the claim uses the words that only the clause `rival` has, and none that only `having` has."""
    only_rival, only_having = rival.terms - having.terms, having.terms - rival.terms
    if not only_rival or not only_having or wanted & only_having:
        return False
    return source.share(only_rival, Clause("", wanted)) >= ABOUT_ONE
