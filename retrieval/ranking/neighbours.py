"""Merging neighbouring hits, and limiting the hits per document. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from ragsite.llm.reranking.reader import Reading
from retrieval.types import Hit

# Most passages merged into one: more would exceed a model's window.
LONGEST_RUN = 4
_BLANK_LINE = "\n\n"


def merge_neighbours(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits (best first) with runs of adjacent text passages of one section merged into one hit each.

    A run has at most `LONGEST_RUN` passages. The merged hit takes the place of the best hit of its run and equals it,
    except for its content, joined in the document's order with blank lines; its `merged` ids, in the document's order;
    its sources, those of the whole run; and its reading, the best of the run. Its page, to which links lead, is that of
    the best hit. Contents of neighbours don't overlap: text repeated from the passage before is kept separately, as the
    lead. Tables and pictures are not merged, since they are displayed as such.
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
    """Return at most `most` hits per document, the first ones; None means no limit."""
    if most is None:
        return list(hits)
    seen: Counter[int] = Counter()
    kept = []
    for hit in hits:
        seen[hit.document_id] += 1
        if seen[hit.document_id] <= most:
            kept.append(hit)
    return kept
