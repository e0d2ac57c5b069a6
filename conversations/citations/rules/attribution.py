"""Numbers and names that the source only has where it speaks of something else. Pure."""

import re
from collections.abc import Iterator, Sequence, Set
from typing import Literal

from conversations.citations.source import Clause, Source, split_clauses, terms_without_numbers
from ragsite.language.facts import are_alike, is_named, names
from ragsite.language.quantities import Quantity, is_rough, quantities
from ragsite.language.word_tokens import word_tokens

# A clause of a claim rests on one of the source from this share of its words on.
RESTS = 0.5
# A clause of fewer words doesn't show what it rests on.
TELLING = 4
# A fact is misplaced when the clauses that hold it share less than this much of what the best clause shares.
MISPLACED = 0.7
# The most numbers of a claim, and clauses that hold one, to compare: a hostile text must not take long.
MOST_NUMBERS, MOST_CLAUSES = 20, 50
# A claim speaks of one of two parallel clauses from this share on of the words that the other doesn't have.
TOLD = 0.6
# A clause that shares this much may speak of the same as a claim, if the same words stand this near. In characters.
SPEAKS_OF_IT, _BESIDE = 0.3, 30
# Numbers no farther apart than this are parts of one date. In characters.
PART_OF_A_DATE = 3


def misplaced(said: str, source: Source) -> Iterator[tuple[Literal["number", "name"], str]]:
    """Yield the numbers and names of a claim that the source only has where it speaks of something else.

    What the claim, or a clause of it, rests on then has another of the same kind in its place.
    """
    for whole, units in ((False, split_clauses(said)), (True, [said])):
        for unit in units:
            yield from (("number", number) for number in _misplaced_numbers(unit, source, whole))
            yield from (("name", name.strip("“”")) for name in _misplaced_names(unit, said, source, whole))
    # Also numbers swapped between two parallel clauses: the claim uses words of the one clause with the other's number.
    mine = quantities(said)[:MOST_NUMBERS]
    wanted = terms_without_numbers(said)
    for quantity in mine:
        if quantity.spelled or is_rough(said, quantity):
            continue
        holding = [other for other in source.clauses if _among(quantity, other.quantities)][:MOST_CLAUSES]
        rivals = [other for other in source.clauses if _has_rival(other, quantity, mine)][:MOST_CLAUSES]
        others = [other for other in mine if other is not quantity]
        if holding and all(
            any(_is_of(wanted, rival, other, source) and not _agree(others, other, rival) for rival in rivals)
            for other in holding
        ):
            yield "number", said[quantity.start : quantity.end].strip()


def counterpart(said: str, what: str, source: Source) -> str:
    """Return what the source says in place of a number of a claim, as it writes it; empty where that is not sure.

    The clause or the sentence that the claim rests on must have one number of the kind that the claim hasn't, or one
    that stands beside the same words.
    """
    mine = quantities(said)
    wrong = next((quantity for quantity in mine if said[quantity.start : quantity.end].strip() == what), None)
    if wrong is None:
        return ""
    beside = _words_beside(said, wrong)
    unit = next((clause for clause in split_clauses(said) if what in clause), said)
    for whole, text in ((False, unit), (True, unit), (True, said)):
        wanted = terms_without_numbers(text)
        basis = source.basis(wanted, whole)
        if basis is None or source.share(wanted, basis) < SPEAKS_OF_IT:
            continue
        rivals: dict[str, int] = {}  # as the source writes them, and how many words beside them are the claim's
        for other in basis.quantities:
            if other.kind == wrong.kind and not other.spelled and not _among(other, mine):
                signed = basis.text[max(other.start - 1, 0) : other.start] in tuple("¥￥€$£")
                written = basis.text[other.start - signed : other.end].strip(" .,，。")
                rivals[written] = len(beside & _words_beside(basis.text, other))
        best = [text for text, alike in rivals.items() if alike == max(rivals.values())]
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
    """Return the clause, or the `whole` sentence, that words rest on, or None where that isn't clear."""
    basis = source.basis(wanted, whole)
    rests = basis is not None and len(wanted) >= TELLING and source.share(wanted, basis) >= RESTS
    return basis if rests else None


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
        holding = [other for other in source.units(whole) if _among(quantity, other.quantities)]
        if holding and _is_elsewhere(unit, what, wanted, holding, basis, source):
            yield what


def _misplaced_names(unit: str, said: str, source: Source, whole: bool) -> Iterator[str]:
    full_names: list[str] = []  # those of several words whole: Agnes T. Dunbar
    for name in names(unit):
        before = re.escape(full_names[-1]) if full_names else "(?!)"
        if longer := re.search(rf"{before}\s+(?:[A-Z]\.\s+)?{re.escape(name)}", unit):
            full_names[-1] = longer[0]
        else:
            full_names.append(name)
    said_here = terms_without_numbers(unit) if full_names else set()
    for name in full_names:
        wanted = said_here - terms_without_numbers(name)
        basis = _basis(wanted, source, whole)
        if basis is None:
            continue
        last = name.split()[-1]
        holding = [
            other for other in source.units(whole) if is_named(last, other.text) or is_named(last, other.subject)
        ]
        strange = [other for other in basis.names if are_alike(last, other) and not is_named(other, said)]
        speaks_of = any(_speaks_of(unit, name, other, basis) for other in holding)
        if strange and not speaks_of and _is_elsewhere(unit, name, wanted, holding, basis, source):
            yield name


def _among(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    return any(map(quantity.agrees, others))


def _is_elsewhere(
    clause: str, fact: str, wanted: Set[str], holding: Sequence[Clause], basis: Clause, source: Source
) -> bool:
    """Whether the clauses that hold a fact share much less with a claim's clause than the one that it rests on.

    Within one sentence they share enough with any word or number of the claim's that is theirs alone.
    """
    beside = [other for other in holding if other.sentence == basis.sentence]
    if basis in holding or any(_speaks_of(clause, fact, other, basis) for other in beside):
        return False
    best = max((source.share(wanted, other) for other in holding), default=0.0)
    return best < MISPLACED * source.share(wanted, basis)


def _speaks_of(clause: str, fact: str, holding: Clause, basis: Clause) -> bool:
    """Whether a claim's clause has, besides a fact, a word or a number of another kind of the one clause alone."""
    mine = quantities(clause)
    rest = clause.replace(fact, " ")
    for quantity in mine:
        rest = rest.replace(clause[quantity.start : quantity.end], " ")
    if terms_without_numbers(rest) & (holding.terms - basis.terms):
        return True
    place = clause.find(fact)
    ours = {quantity.kind for quantity in mine if quantity.start < place + len(fact) and place < quantity.end}
    apart = [
        quantity
        for quantity in mine
        if quantity.kind not in ours and max(quantity.start - place - len(fact), place - quantity.end) > PART_OF_A_DATE
    ]
    return _agree(apart, holding, basis)


def _agree(others: Sequence[Quantity], holding: Clause, rival: Clause) -> bool:
    """Whether another number of the claim is that of the one clause and not of the other."""
    return any(_among(other, holding.quantities) and not _among(other, rival.quantities) for other in others)


def _has_rival(clause: Clause, quantity: Quantity, mine: Sequence[Quantity]) -> bool:
    """Whether a clause has a number of the same kind that the claim hasn't, and not this one."""
    return not _among(quantity, clause.quantities) and any(
        other.kind == quantity.kind and not _among(other, mine) for other in clause.quantities
    )


def _is_of(wanted: Set[str], rival: Clause, holding: Clause, source: Source) -> bool:
    """Whether the claim uses the words that only the rival clause has, and none that only the clause `holding` has."""
    only_rival, only_holding = rival.terms - holding.terms, holding.terms - rival.terms
    if not only_rival or not only_holding or wanted & only_holding:
        return False
    return source.share(only_rival, Clause("", wanted)) >= TOLD
