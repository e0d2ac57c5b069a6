"""`bench recall`: recall and speed of vector search, with filters of several selectivities.

The vectors are computed from real sentences, and further ones lie between two of these (see `embeddings`). They are
distributed to knowledge bases in two ways: at random, so that a filter leaves a representative part; and by nearness to
one of them, so that a filter leaves similar vectors, and most questions are elsewhere. The questions are the vectors of
other sentences. A hit counts if it is as near as the tenth nearest, since many passages contain the same sentence, and
any of them will do.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from django.contrib.auth import get_user_model
from django.db import connection
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from knowledge.models import KnowledgeBase
from ragsite.language.sentences import split_sentences
from retrieval.engine import partitions, spaces, vectors
from retrieval.models import EmbeddingSpace, VectorCount
from tests.benchmarks.retrieval import embeddings, passages, scratch
from tests.benchmarks.retrieval.measuring import Timing, table
from tests.benchmarks.retrieval.passages import NoTexts, crossovers
from tests.benchmarks.retrieval.searching import Say

K = 10
# Shares of all vectors that a filter leaves.
SELECTIVITIES = (0.3, 0.1, 0.01, 0.001)
# Shorter sentences are headings; longer ones take long to embed.
SHORTEST, LONGEST = 40, 200  # characters
# Similarities of half-precision vectors that differ by less are the same.
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Options:
    """What to measure; `depth` is the number of hits requested, of which the first ten count."""

    texts: Sequence[Path]
    size: int = 100_000
    embed: int = 20_000
    queries: int = 200
    depth: int = 50


@dataclass
class Filled:
    """The vectors in the database: the base of each, and whether it still exists. Row n is chunk n + 1."""

    space: EmbeddingSpace
    rows: NDArray[np.float16]
    bases: NDArray[np.int64]
    alive: NDArray[np.bool_]


def run(options: Options, say: Say) -> None:
    """Fill a database, and print recall and times for each filter; again after deleting half, and after rebuilding."""
    sentences = _sentences(options)
    with scratch.database("ragsite_bench_recall", keep=False):
        scratch.empty()
        space = spaces.active_space()
        computed = embeddings.real(spaces.embedder_of(space), sentences)
        questions, known = computed[: options.queries], computed[options.queries :]
        rows = embeddings.drawn(known, list(crossovers(len(known), options.size)), seed=1)
        filled = Filled(space, rows.astype(np.float16), _deal(rows), np.ones(len(rows), dtype=bool))
        say(f"\n## {len(rows):,} vectors, {min(len(known), len(rows)):,} of them computed; {len(questions)} questions")
        _load(filled)
        say(f"Index built in {_seconds(partial(partitions.build_index, space)):.0f} s, {_megabytes(space):.0f} MB.")
        for title, change in (
            ("", _vacuum),
            ("\nHalf of all deleted", _delete_half),
            ("\nIndex rebuilt and vacuumed after that", _rebuild),
        ):
            seconds = _seconds(partial(change, filled))
            say(f"{title} ({seconds:.1f} s)" if title else "")
            say(_table(filled, questions, options.depth))


def _sentences(options: Options) -> list[str]:
    """Return distinct sentences of the texts in a fixed random order. Raises `NoTexts`."""
    found: dict[str, None] = {}
    for _name, text in passages.read(options.texts, options.embed + options.queries):
        cut = (sentence.strip() for sentence in split_sentences(text))
        found |= dict.fromkeys(sentence for sentence in cut if SHORTEST <= len(sentence) <= LONGEST)
    if len(found) < 2 * options.queries:
        raise NoTexts(_("The texts have only %(count)s different sentences.") % {"count": len(found)})
    every = list(found)
    order = np.random.default_rng(0).permutation(len(every))[: options.queries + min(options.embed, options.size)]
    return [every[place] for place in order]


def _deal(rows: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return base numbers: for each selectivity a base of similar vectors and a random one; base 0 has the rest.

    The number of the first is the selectivity's place from 1, that of the second its negative.
    """
    rng = np.random.default_rng(5)
    bases = np.zeros(len(rows), dtype=np.int64)
    for number, part in enumerate(SELECTIVITIES, start=1):
        size = round(part * len(rows))
        free = np.flatnonzero(bases == 0)
        nearness = rows[free] @ rows[rng.choice(free)]
        bases[free[np.argsort(-nearness)[:size]]] = number
        bases[rng.choice(np.flatnonzero(bases == 0), size, replace=False)] = -number
    return bases


def _load(filled: Filled) -> None:
    """Copy the vectors into the table, without chunks, base by base like on a real site."""
    owner = get_user_model().objects.create(username="bench")
    keys = {}
    for number in np.unique(filled.bases).tolist():
        base = KnowledgeBase.objects.create(owner=owner, name=f"bench {number}")
        count = int((filled.bases == number).sum())
        VectorCount.objects.create(space=filled.space, knowledge_base=base, vectors=count)
        keys[number] = base.pk
    filled.bases = np.vectorize(keys.__getitem__)(filled.bases)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE retrieval_vector DROP CONSTRAINT retrieval_vector_chunk_id_fkey")
        cursor.execute(f"DROP INDEX {filled.space.index_name}")
        columns = "chunk_id, space_id, knowledge_base_id, embedding"
        with cursor.copy(f"COPY {filled.space.table_name} ({columns}) FROM STDIN") as copy:
            for row in np.argsort(filled.bases, kind="stable").tolist():
                literal = vectors.literal(filled.rows[row].astype(np.float32))
                copy.write_row((row + 1, filled.space.pk, int(filled.bases[row]), literal))


def _delete_half(filled: Filled) -> None:
    filled.alive = np.arange(len(filled.rows)) % 2 == 0
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {filled.space.table_name} WHERE chunk_id %% 2 = 0", [])
    for count in VectorCount.objects.filter(space=filled.space):
        left = int((filled.alive & (filled.bases == count.knowledge_base_id)).sum())
        VectorCount.objects.filter(pk=count.pk).update(vectors=left)


def _vacuum(filled: Filled) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM ANALYZE {filled.space.table_name}")


def _rebuild(filled: Filled) -> None:
    """Rebuild the index before the vacuum, as pgvector recommends.

    Otherwise the vacuum looks up new neighbours for nearly every remaining vector, one by one and on disk. For 100,000
    vectors, half of them deleted, this took 1,054 s, and recall@10 over everything was 0.997.
    """
    partitions.build_index(filled.space)
    _vacuum(filled)


def _table(filled: Filled, questions: NDArray[np.float32], depth: int) -> str:
    lines = []
    for title, bases in _filters(filled):
        within = filled.alive & np.isin(filled.bases, bases)
        timing, recalls = _asked(filled, questions, bases, within, depth)
        lines.append(
            [
                title,
                f"{int(within.sum()):,}",
                f"{np.mean(recalls):.4f}",
                f"{np.min(recalls):.1f}",
                *(f"{timing.percentile(percent):.1f}" for percent in (50, 95)),
            ]
        )
    return table(["filter", "vectors", "recall@10", "min", "p50 ms", "p95 ms"], lines)


def _filters(filled: Filled) -> Iterator[tuple[str, list[int]]]:
    """Yield each filter's title and bases."""
    keys = sorted(set(filled.bases.tolist()))  # created in the order of their numbers
    yield "everything", keys
    places = len(SELECTIVITIES)
    for place, part in enumerate(SELECTIVITIES, start=1):
        yield f"{part:.1%}, random", [keys[places - place]]
        yield f"{part:.1%}, similar", [keys[places + place]]


def _asked(
    filled: Filled, questions: NDArray[np.float32], bases: Sequence[int], within: NDArray[np.bool_], depth: int
) -> tuple[Timing, list[float]]:
    """Return the times of the searches and their recall."""
    timing, recalls = Timing(), []
    rows = filled.rows.astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for question in questions:
        nearness = rows @ question
        wanted = min(K, int(within.sum()))
        tenth = np.partition(nearness[within], -wanted)[-wanted] - TOLERANCE
        started = time.perf_counter()
        found = [chunk_id for chunk_id, *_ in vectors.search(filled.space, question, bases, depth)]
        timing.milliseconds.append((time.perf_counter() - started) * 1000)
        recalls.append(float(np.mean(nearness[np.array(found[:wanted]) - 1] >= tenth)) if found else 0.0)
    return timing, recalls


def _megabytes(space: EmbeddingSpace) -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_relation_size(%s::regclass)", [space.index_name])
        return float(cursor.fetchone()[0]) / 2**20


def _seconds(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
