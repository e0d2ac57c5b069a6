"""The context of the admin's first page, according to the user's permissions."""

from collections import Counter
from collections.abc import Sequence
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
from knowledge import access
from ragsite.backup import runs
from ragsite.limits import disk
from retrieval.types import AnswerState

SPANS = (7, 30, 90)
USUAL_SPAN = 30
GROUPS_SHOWN = 8
# Maximum number of characters of a question in a link to another page.
QUESTION_CARRIED = 1000


def context(request: HttpRequest) -> dict[str, Any]:
    """Return the figures of the chosen period (`?days=`); those about questions require permission to view them."""
    user: Any = request.user
    found: dict[str, Any] = {}
    if user.has_perms(["conversations.view_message", "conversations.view_turn"]):
        asked_for = request.GET.get("days", "")
        days = int(asked_for) if asked_for in map(str, SPANS) else USUAL_SPAN
        zone = timezone.get_default_timezone()
        first = timezone.localdate(timezone=zone) - timedelta(days=days - 1)
        since = datetime.combine(first, time.min, tzinfo=zone)
        answers, latencies, thumbs = figures.answered(since), figures.latencies(since), figures.thumbs(since)
        found = questions(answers, [first + timedelta(days=number) for number in range(days)]) | {
            "days": days,
            "spans": SPANS,
            "people": figures.people(since),
            "groups": groups(user, since),
            "latencies": latencies,
            "longest": max((each.p95 for each in latencies), default=0),
            "up": thumbs.get(Feedback.Value.UP, 0),
            "down": thumbs.get(Feedback.Value.DOWN, 0),
        }
        if user.has_perm("conversations.view_feedback"):
            found["thumbs_down"] = figures.newest_thumbs_down(since)
        if user.has_perm("conversations.view_modelprofile"):
            found["models"] = models = figures.models(answers)
            found["most_tokens"] = max((each.read + each.written for each in models), default=0)
            costs = [each.cost for each in models if each.cost is not None]
            found["total_cost"] = figures.money(sum(costs, Decimal(0)) if costs else None)
    if user.has_perm("knowledge.view_document"):
        free, total = disk.space()
        found |= {"ingestion": figures.ingestion(), "sizes": figures.sizes()}
        found["disk"] = {"free": free, "total": total, "is_low": disk.is_low()}
    if user.is_superuser:
        found["backup_problem"] = runs.problem()
    if found and may_set_up(user):
        has_model = settings.LLM_BASE_URL or ModelProfile.objects.filter(enabled=True).exists()
        found["connect_model"] = not has_model
    return found


def questions(answers: Sequence[figures.Answered], days: Sequence[date]) -> dict[str, Any]:
    """Return the number of questions per day and outcome, for a chart and a table."""
    counts: Counter[tuple[date, str]] = Counter()
    for each in answers:
        if not each.continues:
            counts[each.day, each.outcome] += each.count
    total = counts.total()
    names = {value: str(label) for value, label in AnswerState.choices}
    names |= {"talk": _("Without a search"), "stopped": _("Stopped"), "failed": _("Failed"), "running": _("Answering")}
    sums = {slug: sum(counts[day, slug] for day in days) for slug in names}
    outcomes: list[dict[str, Any]] = [
        {"slug": slug, "name": names[slug], "count": count, "share": round(100 * count / total)}
        for slug, count in sums.items()
        if count
    ]
    rows, titles = [], []
    for day in days:
        row = [counts[day, each["slug"]] for each in outcomes]
        details = ", ".join(f"{each['name']} {count}" for each, count in zip(outcomes, row, strict=True) if count)
        titles.append(f"{date_format(day, 'MONTH_DAY_FORMAT')}: {sum(row)}" + (f" ({details})" if details else ""))
        rows.append(row)
    return {
        "question_count": total,
        "outcomes": outcomes,
        "chart": charts.stacked(rows, [each["slug"] for each in outcomes], titles) if total else None,
        "chart_days": [days[0], days[len(days) // 2], days[-1]],
        "table": [(day, sum(row), row) for day, row in zip(days, rows, strict=True)][::-1],
    }


def groups(user: Any, since: datetime) -> dict[str, Any]:
    """Return groups of unanswered questions, with links for adding a document or a question of a question set.

    The document is added to the base that most of a group's sessions searched, counting sessions that searched a
    single base that the user can edit; otherwise to the only editable base, or to one that the user chooses.
    """
    asked = unanswered.unanswered(since)
    found = unanswered.groups(asked)
    shown = found[:GROUPS_SHOWN]
    bases: dict[int, set[tuple[int, str]]] = {}
    if user.has_perm("knowledge.view_knowledgebase"):
        chosen = ChatSession.knowledge_bases.through.objects.filter(
            chatsession__turns__in=[each.turn_id for group in shown for each in group.questions],
            knowledgebase__in=access.editable(user),
        ).values_list("chatsession__turns", "knowledgebase_id", "knowledgebase__name")
        for turn_id, base_id, name in chosen:
            bases.setdefault(turn_id, set()).add((base_id, name))
    editable = list(access.editable(user).values_list("pk", "name")[:2]) if shown else []
    only = editable[0] if len(editable) == 1 else (0, "")
    rows, reads_sessions = [], user.has_perm("conversations.view_chatsession")
    for group in shown:
        candidates = [bases.get(each.turn_id, set()) for each in group.questions]
        common = Counter(base for own in candidates if len(own) == 1 for base in own)
        base_id, name = max(common, key=lambda base: (common[base], -base[0]), default=only)
        choice = f"{reverse('knowledge')}?{urlencode({'answers': group.text[:QUESTION_CARRIED]})}"
        rows.append(
            {
                "group": group,
                "base": name,
                "add_document": reverse("knowledge-base", args=[base_id]) if base_id else choice,
                "add_to_set": f"{reverse('playground')}?{urlencode({'q': group.text[:QUESTION_CARRIED]})}",
                "turn": (
                    f"{reverse('admin:conversations_chatsession_change', args=[group.last.session_id])}"
                    f"?turn={group.last.turn_id}#turn-{group.last.turn_id}"
                    if reads_sessions
                    else reverse("admin:conversations_turn_change", args=[group.last.turn_id])
                ),
            }
        )
    return {"rows": rows, "questions": len(asked), "of": len(found), "is_capped": len(asked) >= unanswered.LOOKED_AT}
