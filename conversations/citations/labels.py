"""Texts for the results of the citation check."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conversations.citations.underline import SentenceMark
from ragsite.language.facts import letters_and_digits

# The most reasons shown next to a sentence; the full list has all of them.
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Doubt:
    """A sentence that its sources don't fully support, and the reasons."""

    text: str
    status: str
    label: str
    reasons: tuple[str, ...]
    sources: tuple[int, ...]


def label(status: str) -> str:
    """Return the label of a status."""
    names = {
        "supported": _("Supported"),
        "unclear": _("Unclear"),
        "partly": _("Partly supported"),
        "not_found": _("Not found in the source"),
        "contradicted": _("Contradicted"),
        "uncited": _("Uncited"),
    }
    return names.get(status, status)


def doubts(checks: Iterable[dict[str, Any]]) -> list[Doubt]:
    """Return the sentences that the check doubts, in order."""
    return [
        Doubt(
            item["text"],
            item["status"],
            label(item["status"]),
            _first_reasons(item),
            tuple(dict.fromkeys(item["sources"])),
        )
        for item in checks
        if item["status"] not in ("supported", "unclear")
    ]


def rows(checks: Iterable[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Return label, text, markers and reasons of every sentence, for a full list."""
    return [
        (
            label(item["status"]),
            item["text"],
            "".join(f"[{number}]" for number in dict.fromkeys(item["sources"])),
            " ".join(reason(problem, item["status"]) for problem in item["problems"]),
        )
        for item in checks
    ]


def reason(problem: Mapping[str, str], status: str = "") -> str:
    """Return the text of a problem of a sentence with a status."""
    kind, what, says = problem["kind"], problem["what"], problem.get("says", "")
    if says:
        return _("“%(what)s” is contradicted: the source says %(says)s.") % {"what": what, "says": says}
    if status == "uncited":
        return _("“%(what)s” is not in any of the sources, and no source is cited.") % {"what": what}
    match kind:
        case "quotation":
            return _("The source does not contain the quotation “%(what)s” word for word.") % {"what": what}
        case "number" | "name" | "word":  # checks of earlier versions have words
            return _("“%(what)s” is not in the source in this context.") % {"what": what}
        case "polarity":
            return _("The source seems to say the opposite.")
        case "model":
            if what:
                return _("A model did not find “%(what)s” in the source.") % {"what": what}
            return _("A model did not find this in the source.")
        case "language":
            return _("The source is in another language and could not be compared.")
        case "words" if status == "unclear":
            return _("The source uses other words, so the two could not be compared.")
        case "source":
            return _("The source is no longer available.")
        case _:
            return _("Little of this is in the source.")


def _first_reasons(item: Mapping[str, Any]) -> tuple[str, ...]:
    problems = item["problems"]
    reasons = (reason(problem, item["status"]) for problem in problems[:_SHOWN])
    return (*reasons, "…") if len(problems) > _SHOWN else tuple(reasons)


def summary(checks: Sequence[dict[str, Any]]) -> str:
    """Return the number of sentences by status in one line; empty if nothing was checked."""
    if not checks:
        return ""
    counts = Counter(item["status"] for item in checks)
    total = len(checks)
    if counts["supported"] == total:
        text = ngettext(
            "%(n)d cited sentence was found in its source",
            "All %(n)d cited sentences were found in their sources",
            total,
        )
        return text % {"n": total}
    parts = (
        ("supported", _("%(n)d supported")),
        ("unclear", _("%(n)d unclear")),
        ("partly", _("%(n)d partly supported")),
        ("not_found", _("%(n)d not found")),
        ("contradicted", _("%(n)d contradicted")),
        ("uncited", _("%(n)d uncited")),
    )
    return _("Citations checked: %(counts)s") % {
        "counts": " · ".join(text % {"n": counts[status]} for status, text in parts if counts[status])
    }


def by_marker(checks: Iterable[dict[str, Any]]) -> dict[int, list[SentenceMark]]:
    """Return the verdicts for the markers of each source, in their order in the answer."""
    found: dict[int, list[SentenceMark]] = defaultdict(list)
    for item in checks:
        for number in item["sources"]:
            found[number].append(_verdict(item))
    return found


def uncited(checks: Iterable[dict[str, Any]]) -> dict[str, SentenceMark]:
    """Return the verdicts on uncited sentences, by the sentences' letters and digits."""
    return {letters_and_digits(item["text"]): _verdict(item) for item in checks if item["status"] == "uncited"}


def _verdict(item: Mapping[str, Any]) -> SentenceMark:
    name = label(item["status"])
    return SentenceMark(item["status"], name, " · ".join(filter(None, (name, " ".join(_first_reasons(item))))))
