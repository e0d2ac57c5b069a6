"""Judging the sentences of an answer by their passages. Pure and deterministic.

A sentence is compared with all of its passages together. They must contain its quotations literally, and its numbers
with their units, its names and its codes, and not only in clauses about something else. The clauses about its subject
must have the same polarity and no other word in place of one of its words. If nearly all of the sentence's words occur,
such a difference is an error, a missing number only if the passages have another one in its place. Otherwise it may be
another wording or a calculated number, and the verdict is "unclear".
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from conversations.citations.rules.attribution import counterpart, misplaced
from conversations.citations.rules.derived import is_derived, may_be_calculated
from conversations.citations.rules.polarity import contradicts, exceptions, read
from conversations.citations.source import Source, split_clauses, terms_without_numbers
from conversations.citations.statements import Statement, statements
from ragsite.language.detection import language_of
from ragsite.language.facts import is_named, is_quoted, names, quotations
from ragsite.language.quantities import fold, is_rough, quantities
from ragsite.language.simplified import as_written, simplified

Status = Literal["supported", "unclear", "partly", "not_found", "contradicted", "uncited"]
Problem = Literal["quotation", "number", "name", "polarity", "words", "language", "source", "model"]

# The share of a sentence's words that its passages must contain for "supported". docs/decisions/citations.md.
ENOUGH_COVERAGE = 0.35
# The most words that the passages may lack so that a difference is an error and not another wording: this share of a
# sentence's words, or one.
OTHER_WORDS = 0.2
# Sentences that say that something is unknown state no fact, and the number that announces a list counts its items.
_NOT_KNOWN = re.compile(
    r"\b(?:do|does|did|is|are|can)(?:n['’]t| not)\b.{0,40}\b(?:say|know|tell|mention|state|specif|cover|found)|"
    r"(?:没有|未|不)(?:提到|提及|说明|知道|涉及|写明|清楚)|没有(?:说|写)",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"\b\d{1,2}\s+(?:points|things|steps|ways|reasons|items)\b|\d{1,2}\s*(?:点|项|步|个方面|种方法)(?=[^\d钟]|$)"
)
_DIGIT = re.compile(r"\d")
# The most characters of a sentence that are judged: the time grows with its length times that of the passages.
LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a sentence.

    `uncited` means that it cites nothing and no given passage contains it; `unclear` that it can't be compared, because
    it is in other words or in another language than its passages.

    `problems` are pairs of a kind and the missing text, such as ("number", "45"). `says` maps missing texts to what the
    source says instead, if that is certain. `coverage` is the share of the sentence's words in the source, 0 to 1.
    """

    text: str
    sources: tuple[int, ...]
    status: Status
    coverage: float
    problems: tuple[tuple[Problem, str], ...] = ()
    says: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as it is stored and shown by the API."""
        return {
            "text": self.text,
            "sources": list(self.sources),
            "status": self.status,
            "coverage": round(self.coverage, 3),
            "problems": [{"kind": kind, "what": what, "says": self.says.get(what, "")} for kind, what in self.problems],
        }


def check(markdown: str, passages: Mapping[int, str], known: Sequence[str] | None = None) -> Iterator[Verdict]:
    """Yield the verdicts on the sentences of an answer that have markers; `passages` are by number.

    Also yield verdicts on uncited sentences with a number, name or quotation that is in no passage and in no text of
    `known`, such as the question; not if `known` is None.
    """
    source_of = lru_cache(_source_of)  # sentences in a row often have the same passages
    for statement in statements(markdown):
        if statement.sources:
            cited = tuple(passages[number] for number in dict.fromkeys(statement.sources) if number in passages)
            yield _judge(statement, source_of(cited))
        elif known is not None and passages:
            written = fold(_beginning(statement.text))
            text = simplified(written)
            if _NOT_KNOWN.search(text):
                continue
            everything = source_of((*passages.values(), *known))
            missing = tuple(dict.fromkeys(_missing(_ANNOUNCED.sub(" ", text), everything)))
            if everything.is_foreign(language_of(text)):  # names and quotations may be there in another language
                missing = tuple(problem for problem in missing if problem[0] == "number")
            if missing:
                yield Verdict(statement.text, (), "uncited", 0.0, _as_written(missing, written))


def _source_of(passages: Sequence[str]) -> Source:
    return Source(fold("\n".join(passages)))


def _judge(statement: Statement, source: Source) -> Verdict:
    if not source.text.strip():
        return Verdict(statement.text, statement.sources, "not_found", 0.0, (("source", ""),))
    written = fold(_beginning(statement.text))
    text = simplified(written)
    if source.is_foreign(language_of(text)):
        return _across_languages(statement, text, source)
    clauses = split_clauses(text)
    missing = list(dict.fromkeys(_missing(text, source)))
    problems = missing or list(dict.fromkeys(misplaced(text, source)))
    for clause in clauses if not problems else ():
        ways = exceptions(clause)
        about = [other.signs for other in source.about(terms_without_numbers(clause)) if exceptions(other.text) == ways]
        if contradicts(read(clause), about, source.weight):
            problems.append(("polarity", ""))
            break
    mine = [quantity for quantity in quantities(text) if not quantity.spelled]  # number words may not be quantities
    found_numbers = sum(any(map(quantity.agrees, source.quantities)) for quantity in mine)
    words = terms_without_numbers(text)
    covered = source.coverage(words, found_numbers)
    kinds = {kind for kind, _what in problems}
    wrong = [number for number in mine if ("number", text[number.start : number.end].strip()) in problems]
    is_calculated = any(may_be_calculated(number, source) for number in wrong)
    # A wrong code may be half of a short sentence, such as "The TL-SE2106 has nine ports."
    codes = terms_without_numbers(" ".join(what for kind, what in problems if kind == "name" and _DIGIT.search(what)))
    is_same_wording = len(source.lacking(words - codes)) <= max(1, round(OTHER_WORDS * (len(words) + found_numbers)))
    says = {}
    if kinds == {"number"} and is_same_wording and not is_calculated:
        says = {
            as_written(what, written): source.as_written(instead)
            for _kind, what in problems
            if (instead := counterpart(text, what, source))
        }
        if len(set(says.values())) < len(says):
            says = {}
    is_error = kinds - {"number"} or says or (kinds and not missing and not is_calculated)
    status: Status = "supported"
    if "quotation" in kinds or (is_same_wording and is_error):
        status = "contradicted" if says else "partly"
    elif problems or covered < ENOUGH_COVERAGE:
        status = "unclear"
        problems += [("words", "")] * (covered < ENOUGH_COVERAGE)
    return Verdict(statement.text, statement.sources, status, covered, _as_written(problems, written), says)


def _as_written(problems: Iterable[tuple[Problem, str]], written: str) -> tuple[tuple[Problem, str], ...]:
    """Return problems with their texts in the script of the sentence."""
    return tuple((kind, as_written(what, written)) for kind, what in problems)


def _beginning(text: str) -> str:
    """Return the part of a sentence that is judged, without a cut word or number at its end."""
    return text if len(text) <= LONGEST else re.sub(r"[A-Za-z\d.,]+$", "", text[:LONGEST])


def _across_languages(statement: Statement, text: str, source: Source) -> Verdict:
    """Judge a sentence in another language than its source, by the parts that are written alike in both.

    The verdict is "unclear" if these are a small part of the sentence or if one of them is missing.
    """
    problems = [problem for problem in _missing(text, source) if problem[0] != "quotation"]
    if problems:
        shown = _as_written(problems, statement.text)
        return Verdict(statement.text, statement.sources, "unclear", 0.0, shown)
    alike = names(text)
    rest = terms_without_numbers(text) - terms_without_numbers(" ".join(alike))
    comparable = len(quantities(text)) + len(alike) + len(rest & source.terms)
    covered = comparable / (comparable + len(rest - source.terms) or 1)
    if covered < ENOUGH_COVERAGE:
        return Verdict(statement.text, statement.sources, "unclear", covered, (("language", ""),))
    return Verdict(statement.text, statement.sources, "supported", covered)


def _missing(text: str, source: Source) -> Iterator[tuple[Problem, str]]:
    """Yield the quotations, numbers and names that the source doesn't contain."""
    for quotation in quotations(text):
        if not is_quoted(quotation, source.text):
            yield "quotation", quotation
    mine = quantities(text)
    for quantity in mine:
        matches = quantity.nears if is_rough(text, quantity) else quantity.agrees
        if quantity.spelled or any(map(matches, source.quantities)) or source.has_in_code(quantity):
            continue
        if not is_derived(quantity, text, mine, source):
            yield "number", text[quantity.start : quantity.end].strip()
    for name in names(text):
        if not is_named(name, source.text):
            yield "name", name.strip("“”")
