"""Reading: a cross-encoder reads the first hits together with the question, then orders and judges them.

It never fails a search: if the reader is busy or doesn't finish in time, a note says so.
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
from django.utils.translation import gettext_lazy, ngettext

from ragsite.language.sentences import split_sentences
from ragsite.language.simplified import simplified
from ragsite.llm.errors import LLMError
from ragsite.llm.reranking.reader import OFF, Passage, Reading, get_reader
from ragsite.site_settings.config import config
from retrieval.ranking.rerank import Reranked
from retrieval.types import Hit

# Brief readings (docs/decisions/reader.md): the number of passages that are read first,
FIRST = 4
# the `answers` score of one of them with which reading stops,
CLEARLY = 1.0
# and the number of passages that are read otherwise.
MOST = 10
# The weight of `answers` in a reading's value, relative to its rank.
ANSWERS_WEIGHT = 2

_REASONS: dict[str, Any] = {
    "busy": gettext_lazy("the reader is busy with other questions"),
    "timed_out": gettext_lazy("the reader took too long"),
    "local_model_not_found": gettext_lazy("the reader can't be loaded"),
}

logger = logging.getLogger(__name__)


def is_available() -> bool:
    """Return whether the site has a reader."""
    return bool(settings.READER_MODEL != OFF)


def warm_up() -> None:
    """Load the reader if it is used, so that the first question doesn't wait for it."""
    if is_available() and config.ENABLE_READER:
        with suppress(LLMError):  # the search that needs it reports the error
            check(settings.READER_MODEL)


def check(model: str) -> None:
    """Have a model read something. Raises `LLMError` if it can't be loaded or run."""
    async_to_sync(get_reader(model).read)("warm up", [Passage("", "warm up")], patient=True)


async def read_hits(
    question: str, hits: Sequence[Hit], most: int, *, brief: bool = False, patient: bool = False, model: str = ""
) -> Reranked:
    """Read the first `most` hits (best first) and order them by their former worth + blend × their reading.

    The former worth is the fused score unless all of them were reordered; a reading's value is its rank plus twice its
    `answers`. Both are standardised (mean 0, deviation 1), so that the scores of any model can be combined; the blend
    comes from the model's calibration. Hits that were read get a `reading`. Passages that can't be read within
    `READER_TIMEOUT` seconds stay unread unless `patient`. With `brief`, reading stops after the first passages if one
    of them clearly answers, and after ten otherwise. `model` defaults to that of the settings.
    """
    began = time.perf_counter()
    readings: list[Reading | None] = []
    reason = ""
    blend = 0.0
    try:
        reader = get_reader(model or settings.READER_MODEL)
        blend = reader.calibration.blend
        # In a thread, since splitting into sentences takes milliseconds and would block the event loop.
        passages = await asyncio.to_thread(lambda: [passage_of(hit) for hit in hits[:most]])
        question = simplified(question)
        for step in (passages[:FIRST], passages[FIRST:MOST]) if brief else (passages,):
            if any(reading and (reading.answers or 0.0) >= CLEARLY for reading in readings):
                break
            left = None if patient else max(0.0, config.READER_TIMEOUT - (time.perf_counter() - began))
            readings += await reader.read(question, step, patient=patient, seconds=left)
        reason = "timed_out" if None in readings else ""
    except LLMError as error:
        if error.code != "busy":
            logger.warning("Reading failed: %s %s", type(error).__name__, error.details)
        reason = error.code
    read = [replace(hit, reading=reading) for hit, reading in zip(hits, readings, strict=False) if reading is not None]
    note = ""
    if reason:
        why = str(_REASONS.get(reason, _("the reader failed")))
        note = _("The passages were not read: %(why)s.") % {"why": why}
        if read:
            words = ngettext(
                "Only %(count)d passage was read: %(why)s.", "Only %(count)d passages were read: %(why)s.", len(read)
            )
            note = words % {"count": len(read), "why": why}
    worths = [hit.worth for hit in read if hit.worth is not None]
    before = _standard(worths if len(worths) == len(read) else [hit.score for hit in read])
    found = [hit.reading for hit in read if hit.reading is not None]
    now = _standard([value_of(reading) for reading in found])
    scores = {hit.chunk_id: worth + blend * value for hit, worth, value in zip(read, before, now, strict=True)}
    ordered = sorted(read, key=lambda hit: -scores[hit.chunk_id])
    rest = [hit for hit in hits if hit.chunk_id not in scores]
    return Reranked([*ordered, *rest], scores, round((time.perf_counter() - began) * 1000, 2), note)


def value_of(reading: Reading) -> float:
    """Return the value of a reading, by which passages are ordered: its rank plus twice its `answers`."""
    return reading.rank + ANSWERS_WEIGHT * (reading.answers or 0.0)


def _standard(values: Sequence[float]) -> list[float]:
    """Return values as standard scores; all 0 if the values are equal."""
    if not values:
        return []
    mean, deviation = fmean(values), pstdev(values)
    return [(value - mean) / (deviation or 1.0) for value in values]


def passage_of(hit: Hit) -> Passage:
    """Return a hit as the reader takes it: with its document's title and headings, split into sentences or rows.

    Texts are in simplified Chinese: across the scripts, and also in traditional ones, the reader is less sure of an
    answer (docs/decisions/terms.md).
    """
    rows = hit.content.splitlines(keepends=True) if hit.kind == "table" else split_sentences(hit.content)
    starts = accumulate((len(row) for row in rows[:-1]), initial=0)
    title = hit.title or hit.filename
    head = hit.heading if hit.heading.startswith(title) else " › ".join(filter(None, (title, hit.heading)))
    return Passage(simplified(head), simplified(hit.content), tuple(starts))
