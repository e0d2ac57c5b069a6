"""What a person may use, and what they have used: counted exactly, whatever is deleted meanwhile.

A person's own limit counts; else the most generous of their groups; else the site's. A day and a month are those of the
site's time zone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Q, Sum
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ragsite.exceptions import Refused
from ragsite.limits.models import Limit, Usage
from ragsite.site_settings.config import config

MB = 1024 * 1024
# Names of locks, with the id of whom they hold: their questions, and the documents of the bases that they own.
_QUESTIONS, _STORAGE = 0x7261, 0x7273

# One round trip: questions of one person begin one after the other, until the end of the transaction.
_BEGIN = """
SELECT pg_advisory_xact_lock(%(lock)s, %(user)s %% 2147483647);
INSERT INTO ragsite_usage (user_id, day, questions, tokens)
SELECT id, %(day)s, 1, 0 FROM auth_user WHERE id = %(user)s
ON CONFLICT (user_id, day) DO UPDATE SET questions = ragsite_usage.questions + 1
RETURNING questions,
    (SELECT COALESCE(SUM(tokens), 0) FROM ragsite_usage WHERE user_id = %(user)s AND day >= %(month)s),
    EXISTS (SELECT 1 FROM ragsite_limit)
"""
_ADD_TOKENS = """
INSERT INTO ragsite_usage (user_id, day, questions, tokens)
SELECT id, %s, 0, %s FROM auth_user WHERE id = %s
ON CONFLICT (user_id, day) DO UPDATE SET tokens = ragsite_usage.tokens + EXCLUDED.tokens
"""


class LimitReached(Refused):
    """What is asked for is more than the person may use, until it starts anew: questions_used_up, tokens_used_up."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a person may use: questions a day, tokens a month, storage in bytes; None is any number."""

    questions: int | None = None
    tokens: int | None = None
    storage: int | None = None


@dataclass(frozen=True, slots=True)
class Used:
    """What a person has used today and this month, and what their documents take (bytes)."""

    questions: int = 0
    tokens: int = 0


def today() -> date:
    """Return the day in the site's time zone."""
    return timezone.localdate(timezone=timezone.get_default_timezone())


def allowed(user_id: int, *, any_limits: bool = True) -> Allowed:
    """Return what a person may use, in one query; none where no person or group has a limit (`any_limits`)."""
    rows: Iterable[tuple[Any, ...]] = ()
    if any_limits:
        groups = User.groups.through.objects.filter(user_id=user_id).values("group_id")
        found = Limit.objects.filter(Q(user_id=user_id) | Q(group_id__in=groups)).order_by()
        rows = list(found.values_list("user_id", "questions_per_day", "tokens_per_month", "storage_mb"))

    def most(column: int, otherwise: int | None) -> int | None:
        own = [row[column] for row in rows if row[0] is not None and row[column] is not None]
        of_groups = [row[column] for row in rows if row[0] is None and row[column] is not None]
        return max(own or of_groups, default=otherwise)

    storage = most(3, config.STORAGE_MB)
    return Allowed(
        most(1, config.QUESTIONS_PER_DAY),
        most(2, config.TOKENS_PER_MONTH),
        storage * MB if storage is not None else None,
    )


def used(user_id: int) -> Used:
    """Return what a person has used today and this month."""
    day = today()
    rows = Usage.objects.filter(user_id=user_id, day__gte=day.replace(day=1))
    found = rows.aggregate(questions=Sum("questions", filter=Q(day=day)), tokens=Sum("tokens"))
    return Used(found["questions"] or 0, found["tokens"] or 0)


def begin_question(user_id: int) -> None:
    """Count a question of a person's, in the transaction that stores it; raises `LimitReached`.

    What is refused must be rolled back. Until the transaction ends, other questions of theirs wait to begin. Asks the
    database once, and once more where any person or group has a limit.
    """
    day = today()
    month = day.replace(day=1)
    with connection.cursor() as cursor:
        cursor.execute(_BEGIN, {"lock": _QUESTIONS, "user": user_id, "day": day, "month": month})
        cursor.nextset()
        questions, tokens, any_limits = cursor.fetchone() or (1, 0, False)
    may = allowed(user_id, any_limits=any_limits)
    if may.questions is not None and questions > may.questions:
        message = ngettext(
            "You may ask %(count)d question a day, and have asked it. You can ask again from %(when)s on. An "
            "administrator of this site can give you more.",
            "You may ask %(count)d questions a day, and have asked them. You can ask again from %(when)s on. An "
            "administrator of this site can give you more.",
            may.questions,
        )
        anew = _midnight(day + timedelta(days=1))
        raise LimitReached("questions_used_up", message % {"count": may.questions, "when": _said(anew)}, _until(anew))
    if may.tokens is not None and tokens >= may.tokens:
        anew = _midnight(next_month(day))
        message = _(
            "The %(count)s tokens that models may read and write for you in a month are used up. You can ask again "
            "from %(when)s on. An administrator of this site can give you more."
        )
        raise LimitReached("tokens_used_up", message % {"count": f"{may.tokens:,}", "when": _said(anew)}, _until(anew))


def add_tokens(user_id: int, usage: Mapping[str, Any]) -> None:
    """Count the tokens of an answer, as its usage tells them; asks nothing of the database where no model was asked."""
    tokens = sum(int(usage.get(name) or 0) for name in ("prompt_tokens", "completion_tokens"))
    if tokens > 0:
        with connection.cursor() as cursor:
            cursor.execute(_ADD_TOKENS, [today(), tokens, user_id])


def hold_storage(user_id: int) -> None:
    """Let documents of a person's knowledge bases be stored one after the other, until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_STORAGE, user_id % (2**31 - 1)])


def next_month(day: date) -> date:
    """Return the first day of the next month."""
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time()), timezone.get_default_timezone())


def _said(anew: datetime) -> str:
    """Return when something starts anew, in the person's language, with the time zone."""
    return f"{date_format(anew, 'DATETIME_FORMAT')} ({timezone.get_default_timezone_name()})"


def _until(anew: datetime) -> int:
    return max(1, round((anew - timezone.now()).total_seconds()))
