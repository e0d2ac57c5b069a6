"""What the first page of the administration shows, to those who may see it."""

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from conversations.admin.dashboard import charts, figures, unanswered
from conversations.admin.model_setup.views import may_set_up
from conversations.models import ChatSession, Feedback, ModelProfile
from conversations.pipeline.writing import extractive_answer
from conversations.turns.lifecycle import find_node
from conversations.web.progress import duration
from knowledge import access
from retrieval.types import AnswerState

SPANS = (7, 30, 90)
USUAL_SPAN = 30
GROUPS_SHOWN = 8


def context(request: HttpRequest) -> dict[str, Any]:
    """Return the figures of the chosen span (`?days=`); nothing for who may not look at what people ask."""
    user: Any = request.user
    found: dict[str, Any] = {}
    asked_for = request.GET.get("days", "")
    days = int(asked_for) if asked_for in map(str, SPANS) else USUAL_SPAN
    since = _beginning(days)
    if user.has_perms(["conversations.view_message", "conversations.view_turn"]):
        rows = figures.answered(since)
        found |= {"days": days, "spans": SPANS, **_questions(rows, since, days), **_thumbs(since)}
        found |= {"people": figures.people(since), "latencies": _latencies(since), "groups": _groups(user, since)}
        if user.has_perm("conversations.view_feedback"):
            found["thumbs_down"] = figures.newest_thumbs_down(since)
        if user.has_perm("conversations.view_modelprofile"):
            found |= _models(rows)
    if user.has_perm("knowledge.view_document"):
        disk = shutil.disk_usage(
            next(folder for folder in (settings.DATA_DIR, *settings.DATA_DIR.parents) if folder.exists())
        )
        found |= {"ingestion": figures.ingestion(), "sizes": figures.sizes(), "disk": disk}
    if found:
        found["connect_model"] = may_set_up(user) and not _has_model()
    return found


def _beginning(days: int) -> datetime:
    """Return the beginning of the first of so many days, of which today is the last, in the site's time zone."""
    zone = timezone.get_default_timezone()
    first = timezone.localdate(timezone=zone) - timedelta(days=days - 1)
    return datetime.combine(first, time.min, tzinfo=zone)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many questions ended so, and how many of a hundred."""

    slug: str
    name: str
    count: int
    share: int


def _questions(answered: Sequence[figures.Answered], since: datetime, days: int) -> dict[str, Any]:
    counts: Counter[tuple[date, str]] = Counter()
    for each in answered:
        if not each.continues:
            counts[each.day, each.outcome] += each.count
    names = _names()
    shown = [slug for slug in figures.OUTCOMES if any(state == slug for _day, state in counts)]
    dates = [since.date() + timedelta(days=number) for number in range(days)]
    rows = [[counts[day, slug] for slug in shown] for day in dates]
    total = sum(map(sum, rows))
    outcomes = [
        Outcome(slug, names[slug], count := sum(row[place] for row in rows), round(100 * count / total))
        for place, slug in enumerate(shown)
        if total
    ]
    titles = [_told(day, row, [names[slug] for slug in shown]) for day, row in zip(dates, rows, strict=True)]
    return {
        "question_count": total,
        "outcomes": outcomes,
        "chart": charts.stacked(rows, shown, titles) if total else None,
        "chart_days": [dates[0], dates[len(dates) // 2], dates[-1]],
        "table": [(day, sum(row), row) for day, row in zip(dates, rows, strict=True)][::-1],
    }


def _names() -> dict[str, str]:
    return {
        **{value: str(label) for value, label in AnswerState.choices},
        "talk": _("Without a search"),
        "stopped": _("Stopped"),
        "failed": _("Failed"),
        "running": _("Answering"),
    }


def _told(day: date, counts: Sequence[int], names: Sequence[str]) -> str:
    parts = [f"{name} {count}" for name, count in zip(names, counts, strict=True) if count]
    return f"{date_format(day, 'MONTH_DAY_FORMAT')}: {sum(counts)}" + (f" ({', '.join(parts)})" if parts else "")


def _thumbs(since: datetime) -> dict[str, int]:
    given = figures.thumbs(since)
    return {"up": given.get(Feedback.Value.UP, 0), "down": given.get(Feedback.Value.DOWN, 0)}


@dataclass(frozen=True, slots=True)
class Bar:
    """The times of a step in words, and in percent of the longest one."""

    name: str
    count: int
    p50: str
    p95: str
    middle: float
    most: float


def _latencies(since: datetime) -> list[Bar]:
    rows = figures.latencies(since)
    longest = max((row.p95 for row in rows), default=0) or 1
    bars = []
    for row in rows:
        node = find_node(row.key) if row.key else None
        title = str(node.title) if node is not None and node.title else row.key.replace("_", " ")
        name = title if row.key else _("Whole answer")
        middle, most = 100 * row.p50 / longest, 100 * row.p95 / longest
        bars.append(Bar(name, row.count, duration(row.p50), duration(row.p95), middle, most))
    return bars


def _models(rows: Sequence[figures.Answered]) -> dict[str, Any]:
    used = figures.models(rows)
    most = max((use.read + use.written for use in used), default=0) or 1
    lines = [
        {
            "name": _("Quoting, without a model") if use.model == extractive_answer.MODEL else use.model,
            "use": use,
            "cost": _money(use.cost),
            "read": 100 * use.read / most,
            "written": 100 * use.written / most,
        }
        for use in used
    ]
    costs = [use.cost for use in used if use.cost is not None]
    return {"models": lines, "total_cost": _money(sum(costs, Decimal(0))) if costs else ""}


def _money(amount: Decimal | None) -> str:
    if amount is None:
        return ""
    return (
        f"{amount:,.2f} {settings.LLM_CURRENCY}"
        if amount >= 1 or not amount
        else f"{amount:.4f} {settings.LLM_CURRENCY}"
    )


def _groups(user: Any, since: datetime) -> dict[str, Any]:
    asked = unanswered.unanswered(since)
    found = unanswered.groups(asked)
    shown = found[:GROUPS_SHOWN]
    bases = _bases(user, shown) if user.has_perm("knowledge.view_knowledgebase") else {}
    rows = []
    for group in shown:
        of = Counter(bases[each.turn_id] for each in group.questions if each.turn_id in bases)
        base = max(of, key=lambda pair: (of[pair], -pair[0])) if of else None
        rows.append(
            {
                "group": group,
                "base": base[1] if base else "",
                "add_document": reverse("knowledge-base", args=[base[0]]) if base else reverse("knowledge"),
                "add_to_set": f"{reverse('playground')}?{urlencode({'q': group.text[:1000]})}",
                "turn": reverse("admin:conversations_turn_change", args=[group.last.turn_id]),
            }
        )
    return {"rows": rows, "questions": len(asked), "of": len(found), "is_capped": len(asked) >= unanswered.LOOKED_AT}


def _bases(user: Any, shown: Sequence[unanswered.Group]) -> dict[int, tuple[int, str]]:
    """Return of turns the one base that their session asks, where it is one to which the person may add."""
    turns = [each.turn_id for group in shown for each in group.questions]
    chosen = ChatSession.knowledge_bases.through.objects.filter(
        chatsession__turns__in=turns, knowledgebase__in=access.editable(user)
    ).values_list("chatsession__turns", "knowledgebase_id", "knowledgebase__name")
    found: dict[int, list[tuple[int, str]]] = {}
    for turn_id, base_id, name in chosen:
        found.setdefault(turn_id, []).append((base_id, name))
    return {turn_id: pairs[0] for turn_id, pairs in found.items() if len(pairs) == 1}


def _has_model() -> bool:
    return bool(settings.LLM_BASE_URL) or ModelProfile.objects.filter(enabled=True).exists()
