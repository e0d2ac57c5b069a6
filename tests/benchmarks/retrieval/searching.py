"""`bench search`: compares ways of searching, over the same chunks and queries."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from knowledge.models import KnowledgeBase
from retrieval.engine import spaces
from retrieval.evaluation.metrics import ndcg
from tests.benchmarks.retrieval import embeddings, loading, passages, questions, scratch
from tests.benchmarks.retrieval.baselines import ALL, MissingPackage, Way
from tests.benchmarks.retrieval.baselines.ours import Ours, embedding_milliseconds
from tests.benchmarks.retrieval.loading import Corpus
from tests.benchmarks.retrieval.measuring import Timing, overlap, table, timed
from tests.benchmarks.retrieval.questions import Judged

K = 10
Say = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """What to measure; see the command's help."""

    sizes: Sequence[int]
    texts: Sequence[Path]
    ways: Sequence[str]
    queries: int = 150
    embed: int = 20_000
    rounds: int = 3
    questions: int = 300
    keep: bool = False
    judged: tuple[Path, Path, Path] | None = None  # corpus, queries, qrels


@dataclass(frozen=True)
class Measured:
    """One way's figures at one size."""

    title: str
    words: Timing | None
    hybrid: Timing | None
    quality: Mapping[str, float]


def run(options: Options, say: Say) -> None:
    """Measure at each size and print the tables, and at the end the growth of the times."""
    given = [options.judged[0]] if options.judged else []
    read = passages.read([*given, *options.texts], max(options.sizes))
    growth: dict[int, list[Measured]] = {}
    for size in options.sizes:
        with scratch.database(f"ragsite_bench_{size}", keep=options.keep):
            texts = [text for _name, text in read[: min(size, options.embed)]]
            corpus = Corpus(read, embeddings.real(spaces.embedder_of(spaces.active_space()), texts), size)
            base = prepared(corpus)
            growth[size] = _measure(options, corpus, base, say)
    if len(growth) > 1:
        say(_growth(growth))


def prepared(corpus: Corpus) -> KnowledgeBase:
    """Return the knowledge base with the corpus, filled unless a previous run kept it."""
    if scratch.stamp() == corpus.fingerprint:
        return KnowledgeBase.objects.get(name="bench")
    scratch.empty()
    base = loading.fill(corpus)
    scratch.set_stamp(corpus.fingerprint)
    return base


def _measure(options: Options, corpus: Corpus, base: KnowledgeBase, say: Say) -> list[Measured]:
    sampled = questions.sampled([text for _name, text in corpus.passages[: corpus.sources]], options.queries)
    judged = _judged(options, corpus)
    asked = [*sampled, *(judged.questions if judged else ())]
    say(f"\n## {corpus.size:,} chunks, {len(sampled)} sampled queries" + _and_judged(judged))
    ways = list(_ways(options.ways, base, say))
    words = timed({way.title: way.words for way in ways if way.has_words}, sampled, K, options.rounds)
    hybrid = timed({way.title: way.hybrid for way in ways if way.has_hybrid}, asked, K, options.rounds)
    rows = [
        Measured(
            way.title,
            words.get(way.title),
            hybrid.get(way.title),
            _quality(way, judged, hybrid.get(way.title), len(sampled)),
        )
        for way in ways
    ]
    for way in ways:
        if isinstance(way, Ours):
            say(_stages(way, asked))
        way.close()
    say(_words_table(rows, next((timing.found for timing in words.values()), [])))
    say(_hybrid_table(rows))
    return rows


def _ways(names: Sequence[str], base: KnowledgeBase, say: Say) -> Iterator[Way]:
    """Yield the ways, with exact BM25 first as the reference. A missing package is reported, and its way skipped."""
    for name in sorted(names, key=lambda name: name != "exact"):
        try:
            yield ALL[name](base)
        except MissingPackage as error:
            say(f"{ALL[name].title}: {error}")


def _judged(options: Options, corpus: Corpus) -> Judged | None:
    if options.judged is None:
        return None
    chunk_ids = {name: number for number, (name, _text) in enumerate(corpus.passages[: corpus.sources], start=1)}
    return questions.judged(options.judged[1], options.judged[2], chunk_ids).first(options.questions)


def _and_judged(judged: Judged | None) -> str:
    return f", {len(judged.questions)} questions with judged passages" if judged else ""


def _quality(way: Way, judged: Judged | None, hybrid: Timing | None, skip: int) -> dict[str, float]:
    """Return nDCG@10 of word search and hybrid search, over the judged questions."""
    if judged is None:
        return {}
    found = {"words": [way.words(question, K) for question in judged.questions]} if way.has_words else {}
    if hybrid:
        found["hybrid"] = hybrid.found[skip:]
    return {
        side: sum(ndcg([str(i) for i in ids], right, K) for ids, right in zip(lists, judged.relevant, strict=True))
        / len(judged.relevant)
        for side, lists in found.items()
    }


def _words_table(rows: Sequence[Measured], expected: Sequence[Sequence[int]]) -> str:
    ours = _first(rows, "words")
    lines = [
        [row.title, *_times(row.words, ours), f"{overlap(row.words.found, expected, K):.1%}", _figure(row, "words")]
        for row in rows
        if row.words
    ]
    return "\nWord search\n" + table([*_TIMES, "same 10 as exact BM25", "nDCG@10"], lines)


def _hybrid_table(rows: Sequence[Measured]) -> str:
    ours = _first(rows, "hybrid")
    lines = [[row.title, *_times(row.hybrid, ours), _figure(row, "hybrid")] for row in rows if row.hybrid]
    return "\nHybrid search, with the query's vector computed each time\n" + table([*_TIMES, "nDCG@10"], lines)


_TIMES = ("way", "p50 ms", "p95 ms", "p99 ms", "p50 × ours")


def _times(timing: Timing, ours: Timing | None) -> list[str]:
    ratio = f"{timing.percentile(50) / ours.percentile(50):.1f}" if ours else ""
    return [*(f"{timing.percentile(percent):.1f}" for percent in (50, 95, 99)), ratio]


def _first(rows: Sequence[Measured], side: str) -> Timing | None:
    timing: Timing | None = next((getattr(row, side) for row in rows if row.title == Ours.title), None)
    return timing


def _figure(row: Measured, side: str) -> str:
    return f"{row.quality[side]:.3f}" if side in row.quality else ""


def _stages(way: Ours, queries: Sequence[str]) -> str:
    """Return the median and the 95th percentile of the time of each stage of our search."""
    names = list(dict.fromkeys(name for stages in way.stages for name in stages))
    taken = {"query vector (part of meaning)": embedding_milliseconds(queries)}
    taken |= {name: [stages.get(name, 0.0) for stages in way.stages] for name in names}
    lines = [[name, f"{median(ms):.1f}", f"{Timing(ms).percentile(95):.1f}"] for name, ms in taken.items()]
    return f"\nStages of {way.title}; words and meaning are searched in parallel\n" + table(
        ["stage", "p50 ms", "p95 ms"], lines
    )


def _growth(growth: Mapping[int, Sequence[Measured]]) -> str:
    """Return the medians of every way by size, and the ratio of the largest to the smallest."""
    titles = list(dict.fromkeys(row.title for rows in growth.values() for row in rows if row.hybrid))
    lines = []
    for title in titles:
        p50 = [
            row.hybrid.percentile(50) for rows in growth.values() for row in rows if row.title == title and row.hybrid
        ]
        lines.append([title, *(f"{value:.1f}" for value in p50), f"{p50[-1] / p50[0]:.1f}"])
    return "\n## Growth of p50\n" + table(["way", *(f"{size:,}" for size in growth), "largest / smallest"], lines)
