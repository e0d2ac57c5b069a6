"""Judging a claim by its passages. Pure, deterministic.

A sentence is held against the union of its passages. Quotations must be there verbatim; numbers with their units,
names and codes must be there, and not only in clauses about something else; the clauses that it rests on must have its
polarity, and nothing else in a word's place; and enough of its other words must be covered.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from conversations.citations.claims import Claim, statements
from conversations.citations.rules.attribution import counterpart, misplaced
from conversations.citations.rules.derived import is_worked_out
from conversations.citations.rules.polarity import contradicts, exceptions, read
from conversations.citations.rules.substitutions import exchanged
from conversations.citations.source import Source, split_clauses, terms_without_numbers
from ragsite.language.detection import language_of
from ragsite.language.facts import is_named, is_quoted, names, quotations
from ragsite.language.quantities import fold, is_rough, quantities

Status = Literal["supported", "partly", "not_found", "contradicted", "uncited"]
Problem = Literal["quotation", "number", "name", "word", "polarity", "words", "language", "source", "model"]

# Share of a claim's words that its passages must hold to be supported, and to be found at all.
ENOUGH, SOME = 0.35, 0.25
# What says that something isn't known states nothing, and what announces a list only how many items it has.
_NOT_KNOWN = re.compile(
    r"\b(?:do|does|did|is|are|can)(?:n['’]t| not)\b.{0,40}\b(?:say|know|tell|mention|state|specif|cover|found)|"
    r"(?:没有|未|不)(?:提到|提及|说明|知道|涉及|写明|清楚)|没有(?:说|写)",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"\b\d{1,2}\s+(?:points|things|steps|ways|reasons|items)\b|\d{1,2}\s*(?:点|项|步|个方面|种方法)(?=[^\d钟]|$)"
)
# Of a longer sentence, no more is judged: the time grows with its length times the passages'. In characters.
LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a sentence; `uncited` means that it cites nothing and no given passage contains it.

    `problems` are pairs of a kind and of what is missing, such as ("number", "45"); `says` has what the source says in
    its place where that is sure, by what is missing. `coverage` is the share of its words found there, from 0 to 1.
    """

    text: str
    sources: tuple[int, ...]
    status: Status
    coverage: float
    problems: tuple[tuple[Problem, str], ...] = ()
    says: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as it is stored and as the API shows it."""
        return {
            "text": self.text,
            "sources": list(self.sources),
            "status": self.status,
            "coverage": round(self.coverage, 3),
            "problems": [{"kind": kind, "what": what, "says": self.says.get(what, "")} for kind, what in self.problems],
        }


def check(markdown: str, passages: Mapping[int, str], known: Sequence[str] | None = None) -> Iterator[Verdict]:
    """Judge the sentences of an answer that carry markers by the passages of these numbers, one after the other.

    Of the others yield those that state a number, name or quotation that stands in no passage, nor in what is `known`
    without one, such as the question; none of them where `known` is None.
    """
    source_of = lru_cache(_source_of)  # sentences in a row often have the same passages
    for claim in statements(markdown):
        if claim.sources:
            cited = tuple(passages[number] for number in dict.fromkeys(claim.sources) if number in passages)
            yield _judge(claim, source_of(cited))
        elif known is not None and passages:
            said = fold(_beginning(claim.text))
            if _NOT_KNOWN.search(said):
                continue
            everything = source_of((*passages.values(), *known))
            missing = tuple(dict.fromkeys(_missing(_ANNOUNCED.sub(" ", said), everything)))
            if everything.is_foreign(language_of(said)):  # names and quotations may be there in another language
                missing = tuple(problem for problem in missing if problem[0] == "number")
            if missing:
                yield Verdict(claim.text, (), "uncited", 0.0, missing)


def _source_of(passages: Sequence[str]) -> Source:
    return Source(fold("\n".join(passages)))


def _judge(claim: Claim, source: Source) -> Verdict:
    if not source.text.strip():
        return Verdict(claim.text, claim.sources, "not_found", 0.0, (("source", ""),))
    said = fold(_beginning(claim.text))
    if source.is_foreign(language_of(said)):
        return _across_languages(claim, said, source)
    clauses = split_clauses(said)
    problems = list(dict.fromkeys(_missing(said, source))) or list(dict.fromkeys(misplaced(said, source)))
    for clause in clauses if not problems else ():
        ways = exceptions(clause)
        about = [other.signs for other in source.about(terms_without_numbers(clause)) if exceptions(other.text) == ways]
        if contradicts(read(clause), about, source.weight):
            problems.append(("polarity", ""))
            break
    if not problems:
        found = (what for clause in clauses for what in exchanged(clause, source.nearest(clause).words))
        problems += [("word", what) for what in dict.fromkeys(found)]
    mine = [quantity for quantity in quantities(said) if not quantity.spelled]  # others may count nothing
    found_numbers = sum(any(map(quantity.agrees, source.quantities)) for quantity in mine)
    covered = source.coverage(terms_without_numbers(said), found_numbers)
    if covered < ENOUGH:
        problems.append(("words", ""))
    status: Status = "supported"
    if problems:
        status = "partly" if covered >= SOME else "not_found"
    says = {}
    if {kind for kind, _what in problems} == {"number"}:  # it is right otherwise
        says = {what: instead for _kind, what in problems if (instead := counterpart(said, what, source))}
        if len(set(says.values())) < len(says):
            says = {}
    return Verdict(claim.text, claim.sources, "contradicted" if says else status, covered, tuple(problems), says)


def _beginning(text: str) -> str:
    """Return as much of a sentence as is judged, without half a word or number at the end."""
    return text if len(text) <= LONGEST else re.sub(r"[A-Za-z\d.,]+$", "", text[:LONGEST])


def _across_languages(claim: Claim, said: str, source: Source) -> Verdict:
    """Judge a sentence in another language than its source: only by what is written alike in both.

    Where that is little of the sentence, it doesn't show whether the rest is true.
    """
    problems = [problem for problem in _missing(said, source) if problem[0] != "quotation"]
    if problems:
        return Verdict(claim.text, claim.sources, "not_found", 0.0, tuple(problems))
    alike = names(said)
    rest = terms_without_numbers(said) - terms_without_numbers(" ".join(alike))
    comparable = len(quantities(said)) + len(alike) + len(rest & source.terms)
    covered = comparable / (comparable + len(rest - source.terms) or 1)
    if covered < ENOUGH:
        return Verdict(claim.text, claim.sources, "partly", covered, (("language", ""),))
    return Verdict(claim.text, claim.sources, "supported", covered)


def _missing(said: str, source: Source) -> Iterator[tuple[Problem, str]]:
    """Yield the quotations, numbers and names that the source doesn't have."""
    for quotation in quotations(said):
        if not is_quoted(quotation, source.text):
            yield "quotation", quotation
    mine = quantities(said)
    for quantity in mine:
        bears_out = quantity.nears if is_rough(said, quantity) else quantity.agrees
        if quantity.spelled or any(map(bears_out, source.quantities)) or source.has_in_code(quantity):
            continue
        if not is_worked_out(quantity, said, mine, source):
            yield "number", said[quantity.start : quantity.end].strip()
    for name in names(said):
        if not is_named(name, source.text):
            yield "name", name.strip("“”")
