"""Hits that stand close together: neighbours joined, and documents kept from filling the list. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from ragsite.llm.reranking.reader import Reading
from retrieval.types import Hit

# Passages that are joined into one at most: more would be no passage any more, and fit no model's window.
LONGEST_RUN = 4
_BLANK_LINE = "\n\n"


def merge_neighbours(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits (best first) with runs of adjacent text passages of one section joined into one hit each.

    A run has at most `LONGEST_RUN` passages. The joined hit stands where the best of its run stood, and is that hit
    but for its content, in the document's order and separated by blank lines; its `merged` ids, in the document's
    order; its sources, those of all the run; and its reading, that in the run which fits the question best. Its page
    stays that of the best, where a reader is led to. Contents of neighbours don't overlap: what a passage repeats of
    the one before is kept apart, as its lead. Tables and pictures stay by themselves, since they are shown as such.
    """
    sections: dict[tuple[int, str], list[Hit]] = defaultdict(list)
    for hit in hits:
        sections[hit.document_id, hit.heading].append(hit)
    runs: dict[int, list[Hit]] = {}
    for section in sections.values():
        in_order = sorted(section, key=lambda hit: hit.ordinal)
        run = runs[in_order[0].chunk_id] = in_order[:1]
        for before, hit in pairwise(in_order):
            adjacent = before.kind == hit.kind == "text" and hit.ordinal == before.ordinal + 1
            if adjacent and len(run) < LONGEST_RUN:
                run.append(hit)
            else:
                run = [hit]
            runs[hit.chunk_id] = run
    merged: dict[int, Hit] = {}
    for hit in hits:
        run = runs[hit.chunk_id]
        if run[0].chunk_id in merged:
            continue
        if len(run) > 1:
            best_first = (hit, *(other for other in run if other is not hit))
            starts = accumulate((len(each.content) + len(_BLANK_LINE) for each in run), initial=0)
            readings = [each.reading.moved(start) for each, start in zip(run, starts, strict=False) if each.reading]
            hit = replace(
                hit,
                content=_BLANK_LINE.join(each.content for each in run),
                reading=Reading.joined(readings) if readings else None,
                sources=[source for each in best_first for source in each.sources],
                merged=tuple(each.chunk_id for each in run),
            )
        merged[run[0].chunk_id] = hit
    return list(merged.values())


def at_most_per_document(hits: Iterable[Hit], most: int | None) -> list[Hit]:
    """Return the hits without those that come after `most` others of their document; None is any number."""
    if most is None:
        return list(hits)
    seen: Counter[int] = Counter()
    kept = []
    for hit in hits:
        seen[hit.document_id] += 1
        if seen[hit.document_id] <= most:
            kept.append(hit)
    return kept
