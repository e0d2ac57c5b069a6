"""What the check of an answer's citations found, in words for a reader."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conversations.citations.underline import SentenceMark
from ragsite.language.facts import letters_and_digits

# Reasons that stand beside a sentence; the list of all has the rest.
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Doubt:
    """A cited sentence that its sources support only partly, or not at all, and why."""

    text: str
    status: str
    label: str
    reasons: tuple[str, ...]
    sources: tuple[int, ...]


def label(status: str) -> str:
    """Return a verdict's name."""
    names = {
        "supported": _("Supported"),
        "partly": _("Partly supported"),
        "not_found": _("Not found in the source"),
        "contradicted": _("Contradicted"),
        "uncited": _("Uncited"),
    }
    return names.get(status, status)


def doubts(checks: Iterable[dict[str, Any]]) -> list[Doubt]:
    """Return the sentences that are not fully supported, in order."""
    return [
        Doubt(
            item["text"],
            item["status"],
            label(item["status"]),
            _first_reasons(item),
            tuple(dict.fromkeys(item["sources"])),
        )
        for item in checks
        if item["status"] != "supported"
    ]


def rows(checks: Iterable[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Return verdict, sentence, markers and reasons of every sentence, for a list of all."""
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
    """Return why a sentence of a status is doubted."""
    kind, what, says = problem["kind"], problem["what"], problem.get("says", "")
    if says:
        return _("“%(what)s” is contradicted: the source says %(says)s.") % {"what": what, "says": says}
    if status == "uncited":
        return _("“%(what)s” stands in none of the sources, and none is named.") % {"what": what}
    match kind:
        case "quotation":
            return _("The source does not say “%(what)s” in these words.") % {"what": what}
        case "number" | "name" | "word":
            return _("“%(what)s” does not stand so in the source.") % {"what": what}
        case "polarity":
            return _("The source seems to say the opposite.")
        case "model":
            if what:
                return _("A model does not find “%(what)s” in the source.") % {"what": what}
            return _("A model does not find it in the source.")
        case "language":
            return _("The source is in another language and could not be compared.")
        case "source":
            return _("The source can't be read any more.")
        case _:
            return _("Little of it stands in the source.")


def _first_reasons(item: Mapping[str, Any]) -> tuple[str, ...]:
    problems = item["problems"]
    reasons = (reason(problem, item["status"]) for problem in problems[:_SHOWN])
    return (*reasons, "…") if len(problems) > _SHOWN else tuple(reasons)


def summary(checks: Sequence[dict[str, Any]]) -> str:
    """Return the verdicts in one line, or nothing where nothing was checked."""
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
        ("partly", _("%(n)d partly")),
        ("not_found", _("%(n)d not found")),
        ("contradicted", _("%(n)d contradicted")),
        ("uncited", _("%(n)d uncited")),
    )
    return _("Citations checked: %(counts)s") % {
        "counts": " · ".join(text % {"n": counts[status]} for status, text in parts if counts[status])
    }


def by_marker(checks: Iterable[dict[str, Any]]) -> dict[int, list[SentenceMark]]:
    """Return for each source the verdicts of its markers, in the order in which they stand in the answer."""
    found: dict[int, list[SentenceMark]] = defaultdict(list)
    for item in checks:
        for number in item["sources"]:
            found[number].append(_verdict(item))
    return found


def uncited(checks: Iterable[dict[str, Any]]) -> dict[str, SentenceMark]:
    """Return the verdicts on sentences without a source, by their letters and digits."""
    return {letters_and_digits(item["text"]): _verdict(item) for item in checks if item["status"] == "uncited"}


def _verdict(item: Mapping[str, Any]) -> SentenceMark:
    name = label(item["status"])
    return SentenceMark(item["status"], name, " · ".join(filter(None, (name, " ".join(_first_reasons(item))))))
