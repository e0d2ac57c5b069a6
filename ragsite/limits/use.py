"""Limits on use, and exact counts of use, which don't change when chats are deleted.

A user's own limit applies, else the most generous of their groups', else the site's. Days and months are those of the
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
# Names of advisory locks on a user's questions and on the storage of the knowledge bases they own; the key is the
# user's ID.
_QUESTIONS, _STORAGE = 0x7261, 0x7273

# In one round trip. The lock makes questions of the same user wait until the end of the transaction.
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
    """The user has reached a limit, until the next day or month: `questions_used_up`, `tokens_used_up`."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """A user's limits: questions per day, tokens per month, storage in bytes; None is unlimited."""

    questions: int | None = None
    tokens: int | None = None
    storage: int | None = None


@dataclass(frozen=True, slots=True)
class Used:
    """A user's questions today and tokens this month."""

    questions: int = 0
    tokens: int = 0


def today() -> date:
    """Return the day in the site's time zone."""
    return timezone.localdate(timezone=timezone.get_default_timezone())


def allowed(user_id: int, *, any_limits: bool = True) -> Allowed:
    """Return a user's limits in one query, or without a query if nobody has a limit (`any_limits`)."""
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
    """Return what a user has used today and this month."""
    day = today()
    rows = Usage.objects.filter(user_id=user_id, day__gte=day.replace(day=1))
    found = rows.aggregate(questions=Sum("questions", filter=Q(day=day)), tokens=Sum("tokens"))
    return Used(found["questions"] or 0, found["tokens"] or 0)


def begin_question(user_id: int) -> None:
    """Count a user's question, in the transaction that stores it; raises `LimitReached`.

    After an error the transaction must be rolled back. The user's other questions wait until it ends. Takes one query,
    and another if any user or group has a limit.
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
            "You have used your daily limit of %(count)d question. You can ask again from %(when)s. "
            "An administrator can raise your limit.",
            "You have used your daily limit of %(count)d questions. You can ask again from %(when)s. "
            "An administrator can raise your limit.",
            may.questions,
        )
        reset = _midnight(day + timedelta(days=1))
        values = {"count": may.questions, "when": _formatted(reset)}
        raise LimitReached("questions_used_up", message % values, _seconds_until(reset))
    if may.tokens is not None and tokens >= may.tokens:
        reset = _midnight(next_month(day))
        message = _(
            "You have used your monthly limit of %(count)s tokens, which models read and write for you. You can ask "
            "again from %(when)s. An administrator can raise your limit."
        )
        values = {"count": f"{may.tokens:,}", "when": _formatted(reset)}
        raise LimitReached("tokens_used_up", message % values, _seconds_until(reset))


def add_tokens(user_id: int, usage: Mapping[str, Any]) -> None:
    """Count the tokens in an answer's usage; makes no query if no model was called."""
    tokens = sum(int(usage.get(name) or 0) for name in ("prompt_tokens", "completion_tokens"))
    if tokens > 0:
        with connection.cursor() as cursor:
            cursor.execute(_ADD_TOKENS, [today(), tokens, user_id])


def hold_storage(user_id: int) -> None:
    """Lock the storage of a user's knowledge bases until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_STORAGE, user_id % (2**31 - 1)])


def next_month(day: date) -> date:
    """Return the first day of the next month."""
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time()), timezone.get_default_timezone())


def _formatted(reset: datetime) -> str:
    """Return a time in the user's language, with the time zone."""
    return f"{date_format(reset, 'DATETIME_FORMAT')} ({timezone.get_default_timezone_name()})"


def _seconds_until(reset: datetime) -> int:
    return max(1, round((reset - timezone.now()).total_seconds()))
