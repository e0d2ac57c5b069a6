"""Reading: the first hits read together with the question by a cross-encoder, which orders and judges them.

It never fails a search: where the reader is not done in time, or has others to read for, a note says so.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate
from statistics import fmean, pstdev
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from knowledge.chunking.sentences import split_sentences
from ragsite.llm.errors import LLMError, TimedOut
from ragsite.llm.reranking.reader import OFF, Passage, get_reader
from ragsite.site_settings.config import config
from retrieval.ranking.rerank import Reranked
from retrieval.types import Hit

_REASONS: dict[str, Any] = {
    "busy": gettext_lazy("other questions are being read"),
    "timed_out": gettext_lazy("it took too long"),
    "local_model_not_found": gettext_lazy("the reader can't be loaded"),
}

logger = logging.getLogger(__name__)


def is_available() -> bool:
    """Whether the site has a reader."""
    return bool(settings.READER_MODEL != OFF)


def warm_up() -> None:
    """Load the reader where it is used, so that the first question does not wait for it."""
    if is_available() and config.ENABLE_READER:
        with suppress(LLMError):  # the search that needs it reports what is wrong
            check(settings.READER_MODEL)


def check(model: str) -> None:
    """Have a model read something; raises `LLMError` where it can't be loaded or run."""
    async_to_sync(get_reader(model).read)("warm up", [Passage("", "warm up")], patient=True)


async def read_hits(
    question: str, hits: Sequence[Hit], most: int, *, patient: bool = False, model: str = ""
) -> Reranked:
    """Read the first `most` hits (best first) and order them by what they were worth before + blend × their reading.

    Where not all of them were reordered, the fused score is what a hit was worth; a reading counts by its rank and
    twice what it `answers`. Both are taken as standard scores (from the mean, in deviations), so that any model's may
    be joined; its calibration has the blend. Those that were read have a `reading`. At most `READER_TIMEOUT` seconds
    are taken, unless who asks is `patient`. The model is that of the settings unless one is named.
    """
    began = time.perf_counter()
    first = list(hits[:most])
    try:
        async with asyncio.timeout(None if patient else config.READER_TIMEOUT):
            reader = get_reader(model or settings.READER_MODEL)
            # In a thread, for finding sentences takes milliseconds, during which others want to be served.
            passages = await asyncio.to_thread(lambda: [passage_of(hit) for hit in first])
            readings = await reader.read(question, passages, patient=patient)
    except (LLMError, TimeoutError) as caught:
        error = TimedOut() if isinstance(caught, TimeoutError) else caught
        if error.code not in ("busy", "timed_out"):
            logger.warning("Reading failed: %s %s", type(error).__name__, error.details)
        why = str(_REASONS.get(error.code, _("the reader failed")))
        ms = round((time.perf_counter() - began) * 1000, 2)
        return Reranked(list(hits), {}, ms, _("The passages were not read: %(why)s.") % {"why": why})
    worths = [hit.worth for hit in first if hit.worth is not None]
    before = _standard(worths if len(worths) == len(first) else [hit.score for hit in first])
    now = _standard([reading.rank + 2 * (reading.answers or 0.0) for reading in readings])
    scores = [worth + reader.calibration.blend * read for worth, read in zip(before, now, strict=True)]
    read = [replace(hit, reading=reading) for hit, reading in zip(first, readings, strict=True)]
    order = sorted(range(len(first)), key=lambda place: -scores[place])
    return Reranked(
        [*(read[place] for place in order), *hits[most:]],
        {first[place].chunk_id: scores[place] for place in order},
        round((time.perf_counter() - began) * 1000, 2),
    )


def _standard(values: Sequence[float]) -> list[float]:
    """Return values as standard scores, 0 where all are the same."""
    deviation = pstdev(values) if len(values) > 1 else 0.0
    return [(value - fmean(values)) / (deviation or 1.0) for value in values]


def passage_of(hit: Hit) -> Passage:
    """Return a hit as it is read: under its document's title and its headings, by sentences or a table's rows."""
    rows = hit.content.splitlines(keepends=True) if hit.kind == "table" else split_sentences(hit.content)
    starts = accumulate((len(row) for row in rows[:-1]), initial=0)
    title = hit.title or hit.filename
    head = hit.heading if hit.heading.startswith(title) else " › ".join(filter(None, (title, hit.heading)))
    return Passage(head, hit.content, tuple(starts))
