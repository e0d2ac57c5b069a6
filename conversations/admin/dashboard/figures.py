"""Figures of the first page, each from one query whose cost is bounded by the period or by a number of rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Case, Count, Exists, F, FloatField, Min, OuterRef, Sum, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, TruncDate
from django.utils import timezone
from django.utils.translation import gettext as _
from django_q.models import OrmQ

from conversations.models import ChatSession, Feedback, Message, ModelProfile, Turn
from conversations.pipeline.writing import extractive_answer
from conversations.rendering.progress import duration
from conversations.turns.lifecycle import find_node
from knowledge.models import Document

# Latency is that of the newest turns: more would slow the query down without making percentiles more accurate.
TIMED_TURNS = 2000
THUMBS_SHOWN = FAILED_SHOWN = 5

# Count, median and 95th percentile of each node and of the whole answer (""), over the newest turns.
_LATENCY = """
WITH newest AS MATERIALIZED (
    SELECT turn_id, duration_ms FROM conversations_message
    WHERE role = 'assistant' AND created_at >= %(since)s ORDER BY created_at DESC LIMIT %(turns)s
)
SELECT step.key, count(*), percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY step.ms), min(step."order")
FROM newest JOIN conversations_tracestep step USING (turn_id) WHERE step.status <> 'skipped' GROUP BY step.key
UNION ALL
SELECT '', count(*), percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY duration_ms), 32767
FROM newest WHERE duration_ms IS NOT NULL HAVING count(*) > 0
"""
_SIZES = """
SELECT pg_database_size(current_database()), sum(pg_total_relation_size(oid)) FILTER (WHERE relname LIKE 'retrieval%%'),
    sum(pg_total_relation_size(oid)) FILTER (WHERE relname LIKE 'conversations%%')
FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
"""


@dataclass(frozen=True, slots=True)
class Answered:
    """The number of answers of a day with the same outcome and model, and the tokens that were read and written.

    The outcome is an answer state, `talk` for answers without one, or `failed`, `stopped` or `running`. Answers that
    continue an earlier one (`continues`) have no question of their own.
    """

    day: date
    outcome: str
    model: str
    continues: bool
    count: int
    read: int
    written: int


def answered(since: datetime) -> list[Answered]:
    """Return the counts of answers since a time; the page's figures about answers are sums of these."""
    outcome = Case(
        When(status=Message.Status.FAILED, then=Value("failed")),
        When(status__in=[Message.Status.STOPPED, Message.Status.INTERRUPTED], then=Value("stopped")),
        When(status=Message.Status.STREAMING, then=Value("running")),
        When(answer_state="", then=Value("talk")),
        default=F("answer_state"),
    )
    read, written = (
        Coalesce(Sum(Cast(KeyTextTransform(name, "usage"), FloatField())), 0.0)
        for name in ("prompt_tokens", "completion_tokens")
    )
    rows = (
        Message.objects.filter(role=Message.Role.ASSISTANT, created_at__gte=since)
        .annotate(day=TruncDate("created_at", tzinfo=timezone.get_default_timezone()), outcome=outcome)
        .order_by()
        .values_list("day", "outcome", "turn__model", "turn__continues")
        .annotate(count=Count("pk"), read=read, written=written)
    )
    return [
        Answered(day, state, model, continues, count, int(tokens_in), int(tokens_out))
        for day, state, model, continues, count, tokens_in, tokens_out in rows
    ]


def people(since: datetime) -> int:
    """Return the number of people with a session that has a question and was used since a time."""
    asked = ChatSession.objects.filter(Exists(Turn.objects.filter(session=OuterRef("pk"))), last_activity_at__gte=since)
    return asked.order_by().aggregate(people=Count("owner", distinct=True))["people"] or 0


@dataclass(frozen=True, slots=True)
class Latency:
    """Median and 95th percentile of a node's duration in milliseconds; without a key, of the whole answer."""

    key: str
    count: int
    p50: float
    p95: float

    @property
    def name(self) -> str:
        """The title of the node."""
        if not self.key:
            return _("Whole answer")
        node = find_node(self.key)
        return str(node.title) if node is not None and node.title else self.key.replace("_", " ")

    @property
    def middle(self) -> str:
        """The median as text."""
        return duration(self.p50)

    @property
    def most(self) -> str:
        """The 95th percentile as text."""
        return duration(self.p95)


def latencies(since: datetime) -> list[Latency]:
    """Return the latency of each node in their order, then that of the whole answer."""
    with connection.cursor() as cursor:
        cursor.execute(_LATENCY, {"since": since, "turns": TIMED_TURNS})
        rows = sorted(cursor.fetchall(), key=lambda row: (row[3], row[0]))
    return [Latency(key, count, *middle_and_most) for key, count, middle_and_most, _order in rows]


@dataclass(frozen=True, slots=True)
class ModelUse:
    """The use of a model; `cost` is None if no profile has prices for it."""

    model: str
    answers: int
    read: int
    written: int
    cost: Decimal | None

    @property
    def name(self) -> str:
        """The name of the model."""
        return _("Quoting, without a model") if self.model == extractive_answer.MODEL else self.model

    @property
    def price(self) -> str:
        """The cost as text."""
        return money(self.cost)


def money(amount: Decimal | None) -> str:
    """Return an amount with its currency, to four decimal places if it is less than 1; empty for None."""
    if amount is None:
        return ""
    return (
        f"{amount:,.2f} {settings.LLM_CURRENCY}"
        if amount >= 1 or not amount
        else f"{amount:.4f} {settings.LLM_CURRENCY}"
    )


def models(rows: Iterable[Answered]) -> list[ModelUse]:
    """Return the use of each model, largest first; quoting, which uses no model, comes last."""
    prices: dict[str, tuple[Decimal | None, Decimal | None]] = {}
    priced = ModelProfile.objects.exclude(input_price=None, output_price=None).order_by("enabled", "pk")
    for name, input_price, output_price in priced.values_list("model", "input_price", "output_price"):
        prices[name] = (input_price, output_price)
    sums: dict[str, list[int]] = {}
    for row in rows:
        if row.model:
            total = sums.setdefault(row.model, [0, 0, 0])
            for place, number in enumerate((row.count, row.read, row.written)):
                total[place] += number
    found = []
    for name, (count, read, written) in sums.items():
        cost = None
        if name in prices:
            input_price, output_price = prices[name]
            cost = ((input_price or 0) * read + (output_price or 0) * written) / Decimal(1_000_000)
        found.append(ModelUse(name, count, read, written, cost))
    return sorted(found, key=lambda use: (use.model == extractive_answer.MODEL, -use.read - use.written, use.model))


def thumbs(since: datetime) -> dict[int, int]:
    """Return the number of thumbs by value."""
    given = Feedback.objects.filter(created_at__gte=since).order_by()
    return dict(given.values_list("value").annotate(Count("pk")))


def newest_thumbs_down(since: datetime) -> list[Feedback]:
    """Return the newest thumbs down, each with its answer, turn and session."""
    given = Feedback.objects.filter(created_at__gte=since, value=Feedback.Value.DOWN)
    shown = given.select_related("message__turn__session").defer("message__stream_log", "message__blocks")
    return list(shown.order_by("-created_at", "-id")[:THUMBS_SHOWN])


@dataclass(frozen=True, slots=True)
class Ingestion:
    """Documents by status, the oldest unfinished one, the newest failures and queued tasks; `size` is in bytes."""

    counts: dict[str, int]
    size: int
    oldest: datetime | None
    failed: Sequence[Document]
    tasks: int

    @property
    def waiting(self) -> int:
        """The number of documents that can't be searched by meaning yet."""
        return sum(self.counts.get(status, 0) for status in Document.UNFINISHED)


def ingestion() -> Ingestion:
    """Return the progress of ingestion."""
    rows: Any = Document.objects.order_by().values_list("status").annotate(Count("pk"), Sum("size"), Min("created_at"))
    states = list(rows)
    waiting = [first for status, _count, _size, first in states if status in Document.UNFINISHED]
    failed = Document.objects.filter(status=Document.Status.FAILED).select_related("knowledge_base").order_by("-pk")
    return Ingestion(
        {status: count for status, count, _size, _first in states},
        sum(size or 0 for _status, _count, size, _first in states),
        min(waiting, default=None),
        list(failed[:FAILED_SHOWN]),
        OrmQ.objects.count(),
    )


@dataclass(frozen=True, slots=True)
class Sizes:
    """The size of the database in bytes, and of the index and the conversations in it."""

    database: int
    index: int
    conversations: int


def sizes() -> Sizes:
    """Return the size of the database and its largest parts."""
    with connection.cursor() as cursor:
        cursor.execute(_SIZES)
        database, index, conversations = cursor.fetchone()
    return Sizes(int(database), int(index or 0), int(conversations or 0))
