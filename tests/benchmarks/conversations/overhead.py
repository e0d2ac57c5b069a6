"""The overhead of the pipeline: whole turns with a model that answers at once, without the time of the search.

A turn is timed from its start to its last event, as a page waits for it: preparation, nodes, events, checkpoints and
what is stored. The search runs, and its time is subtracted: once for the node that queries the database, and once for
all nodes that together do what `retrieval.search.search` does. The pipeline itself is the time from the beginning of
its first node to the end of its last, without those steps. The processor time is that of all threads of this process,
including search and model: on a shared machine, it says more than the clock.
"""

import asyncio
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User

from conversations import services
from conversations.models import ChatSession, TraceStep
from conversations.turns import broker, lifecycle
from knowledge.models import Chunk, Document, KnowledgeBase
from ragsite.db import in_database
from tests import factories
from tests.benchmarks.conversations.counting import OUTSIDE, counted
from tests.benchmarks.conversations.instant_model import configured, instant_model
from tests.benchmarks.retrieval import scratch
from tests.benchmarks.retrieval.measuring import table
from tests.turns import wait_for_all

_HOOK = "tests.benchmarks.conversations.counting.name_node"
# The nodes that together do the work of `retrieval.search.search`.
_SEARCHING = {"search", "fusion", "metadata", "reorder", "reader", "rerank", "select"}
_QUESTIONS = (
    "How do I reset the switch?",
    "And how long does that take?",
    "怎么恢复交换机的出厂设置?",
    "那端口隔离呢?",
)
_PASSAGES = (
    "Hold the reset button of switch model {0} for ten seconds to restore its factory settings.",
    "The warranty of rack mounting kit {0} lasts three years from the day of purchase.",
    "交换机 {0} 的端口隔离可以在配置页面中启用。默认情况下端口隔离是关闭的。",
    "Firmware {0} corrects the order in which ports are started after a loss of power.",
)


@dataclass(slots=True)
class Figures:
    """Milliseconds of each turn: total, processor, without the search node, without all steps of the search.

    Also of its pipeline itself and of each node, and the number of queries by node.
    """

    whole: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    apart: list[float] = field(default_factory=list)
    pipeline: list[float] = field(default_factory=list)
    nodes: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    queries: Counter[str] = field(default_factory=Counter)


def run(sessions: int, length: int, say: Callable[[str], None]) -> None:
    """Measure conversations with a number of turns each, with a model and without, and print tables."""
    with scratch.database("ragsite_bench_pipeline", keep=False), _hooked():
        scratch.empty()
        user = User.objects.create_user("bench")
        fill(user)
        for name, with_model in (("a model that answers at once", True), ("no model", False)):
            figures = asyncio.run(_measure(user, sessions, length, with_model))
            say(f"\n## {sessions * length} turns in conversations of {length}, with {name}\n")
            say(_totals(figures))
            say("\n" + _by_node(figures))


@contextmanager
def _hooked() -> Iterator[None]:
    before, log = settings.PIPELINE_HOOKS, logging.getLogger("ragsite.qa")
    settings.PIPELINE_HOOKS = [*before, _HOOK]
    lifecycle.pipeline.cache_clear()
    log.disabled = True
    try:
        yield
    finally:
        settings.PIPELINE_HOOKS, log.disabled = before, False
        lifecycle.pipeline.cache_clear()


def fill(user: User) -> None:
    base = KnowledgeBase.objects.create(owner=user, name="Bench")
    document = Document.objects.create(
        knowledge_base=base, uploaded_by=user, original_filename="handbook.txt", media_type="text/plain",
        sha256="0" * 64, size=1, status=Document.Status.READY, progress=100,
    )  # fmt: skip
    texts = [_PASSAGES[number % len(_PASSAGES)].format(number) for number in range(200)]
    Chunk.objects.bulk_create(
        Chunk(document=document, ordinal=ordinal, content=text) for ordinal, text in enumerate(texts)
    )
    factories.index_document(document.pk)


async def _measure(user: User, sessions: int, length: int, with_model: bool) -> Figures:
    async with instant_model() as base_url:
        with configured(base_url if with_model else ""):
            await _converse(user, length, Figures())  # to warm up
            figures = Figures()
            with counted() as counts:
                for _session in range(sessions):
                    await _converse(user, length, figures)
            figures.queries = counts
            return figures


async def _converse(user: User, length: int, figures: Figures) -> None:
    session = await in_database(services.create_session, user)
    for number in range(length):
        await _turn(user, session, _QUESTIONS[number % len(_QUESTIONS)], figures)


async def _turn(user: User, session: ChatSession, question: str, figures: Figures) -> None:
    began, worked = time.perf_counter(), time.process_time()
    started = await lifecycle.start_turn(user, lifecycle.Ask(session.pk, question))
    async for _event in broker.listen(started.assistant_message_id):
        pass
    whole = (time.perf_counter() - began) * 1000
    figures.processor.append((time.process_time() - worked) * 1000)
    await wait_for_all()
    figures.whole.append(whole)
    taken: defaultdict[str, float] = defaultdict(float)
    times: list[datetime] = []
    async for step in TraceStep.objects.filter(turn_id=started.turn_id).exclude(status="skipped"):
        figures.nodes[step.key].append(step.ms)
        taken[step.key] += step.ms
        times += [step.started_at, step.started_at + timedelta(milliseconds=step.ms)]
    searched = sum(taken[key] for key in _SEARCHING)
    figures.own.append(whole - taken["search"])
    figures.apart.append(whole - searched)
    figures.pipeline.append((max(times) - min(times)) / timedelta(milliseconds=1) - searched)


def _totals(figures: Figures) -> str:
    rows = [
        [name, *(f"{np.percentile(times, percent):.1f}" for percent in (50, 95))]
        for name, times in (
            ("whole turn", figures.whole),
            ("without the search node", figures.own),
            ("without all steps of the search", figures.apart),
            ("the pipeline itself, without them", figures.pipeline),
            ("processor", figures.processor),
        )
    ]
    return table(["ms per turn", "p50", "p95"], rows)


def _by_node(figures: Figures) -> str:
    count = len(figures.whole)
    rows = [
        [key, str(len(times)), f"{median(times):.1f}", f"{np.percentile(times, 95):.1f}",
         f"{figures.queries[key] / count:.1f}"]
        for key, times in figures.nodes.items()
    ]  # fmt: skip
    rows.append([OUTSIDE, str(count), "", "", f"{figures.queries[OUTSIDE] / count:.1f}"])
    rows.append(["all", str(count), "", "", f"{figures.queries.total() / count:.1f}"])
    return table(["node", "runs", "p50 ms", "p95 ms", "queries per turn"], rows)
