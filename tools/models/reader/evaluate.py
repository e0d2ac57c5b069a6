"""Evaluate readers against BM25: do they distinguish passages that answer from those that nearly do, by reading?

    python -m tools.models.reader.evaluate retrieval/bundled/reader trained --authored tools/models/data/held.jsonl
    python -m tools.models.reader.evaluate retrieval/bundled/reader --answers held-small-en held-small-zh

Prints a table for each set, with a column for each reader and 95 % bootstrap intervals in brackets. Rows:

- answerable against near: AUC. In an authored file the question's own passage is read; in bases and the site's own
  sets, the best of ten passages counts (the base's, or the best ones by BM25).
- with and without its evidence: the same question and passage, with and without the answering sentence. AUC, and the
  share of questions that score higher with it. High if a reader reads, since the form of the question can't help.
- answer removed against near: answerable questions on a passage that no longer answers, against near ones. .5 if the
  form of questions gives nothing away.
- question alone: answerable against near without any passage, by "answered". Ideally .5, too.
- first of ten: its own passage is first by `rank`, of ten in its file.
- sentence found: the sentence with the evidence is selected; for BM25, the one that shares most words.
"""

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tools.models.reader.authored import Passage, read
from tools.models.reader.collect import MEASURED
from tools.models.reader.metrics import auc, share, with_interval
from tools.models.reader.reading import OnnxReader, Reading
from tools.models.reader.texts import BM25, headed, sentences, without, words

# Samples by group and row; a row's figure is computed from one sample (a share) or two (an AUC).
Samples = dict[tuple[str, str], list[list[float]]]
Read = Callable[[str, str, str], Reading]
PASSAGES = 10
# The most characters of a passage of the site's own documents, similar to the site's chunking.
_LENGTH = {"en": 500, "zh": 180}
ROWS: dict[str, Callable[..., float]] = {
    "answerable against near": auc,
    "with and without its evidence": auc,
    "the same, share": share,
    "answer removed against near": auc,
    "question alone": auc,
    "first of ten": share,
    "sentence found": share,
}


def authored(passages: Sequence[Passage], reader: Read | None) -> Samples:
    """Return the samples for authored passages, for BM25 if there is no reader.

    Follow-up questions and those without an object are left out.
    """
    samples: Samples = defaultdict(lambda: [[], []])
    index = BM25([headed(passage.title, passage.text) for passage in passages])
    for number, passage in enumerate(passages):
        for question in passage.questions:
            if question.follows or question.label == "objectless":
                continue
            answered = question.label == "answered"
            side = 0 if answered else 1

            def add(row: str, value: float, side: int = 0, group: str = passage.group_of(question)) -> None:
                samples[group, row][side].append(value)

            def score(text: str, asked: str = question.text, title: str = passage.title) -> float:
                return reader(asked, title, text).strength if reader else index.score(asked, headed(title, text))

            own = score(passage.text)
            rest_of_base = [
                score(other.text, title=other.title)
                for other in passages
                if passage.base and other.base == passage.base and other is not passage
            ]
            add("answerable against near", max([own, *rest_of_base]), side)
            if reader:
                add("question alone", reader(question.text, "", "").answered, side)
            if not answered:
                add("answer removed against near", max([own, *rest_of_base]), 1)
                continue
            evidence = question.evidence or ""
            if rest := without(passage.text, evidence):
                left = score(rest)
                add("with and without its evidence", own)
                add("with and without its evidence", left, 1)
                add("the same, share", (own > left) + 0.5 * (own == left))
                add("answer removed against near", max([left, *rest_of_base]))
            ten = _ten(index, question.text, number)
            if reader:
                ranks = [reader(question.text, passages[i].title, passages[i].text).rank for i in ten]
                add("first of ten", float(max(ranks[1:], default=-1e9) < ranks[0]))
                place = reader(question.text, passage.title, passage.text).sentence
                add("sentence found", _overlaps(place, evidence, passage.text))
            else:
                scores = index.scores(question.text)
                add("first of ten", float(max((scores[i] for i in ten[1:]), default=-1) < scores[number]))
                add("sentence found", _overlaps(_by_words(question.text, passage.text), evidence, passage.text))
    return samples


def answers(name: str, reader: Read | None, folder: Path = MEASURED / "answers") -> Samples:
    """Return the samples for one of the site's own sets that has its documents beside it."""
    samples: Samples = defaultdict(lambda: [[], []])
    documents = folder / name.removeprefix("held-")
    asked = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    passages = [part for path in sorted(documents.glob("*.md")) for part in _passages(path, asked[0]["language"])]
    index = BM25([headed(*passage) for passage in passages])
    for question in asked:
        if question["kind"] not in ("answerable", "near"):
            continue
        group, text = question["language"], question["question"]
        best = index.best(text, PASSAGES)
        side = 0 if question["kind"] == "answerable" else 1
        gold = [side == 0 and _holds(passages[i][1], question) for i in best]
        scores = index.scores(text)
        answered = [reader(text, *passages[i]).strength if reader else float(scores[i]) for i in best]
        ranks = [reader(text, *passages[i]).rank for i in best] if reader else answered
        samples[group, "answerable against near"][side].append(max(answered))
        if reader:
            samples[group, "question alone"][side].append(reader(text, "", "").answered)
        others = max((score for score, holds in zip(answered, gold, strict=True) if not holds), default=-25.0)
        if side:
            samples[group, "answer removed against near"][1].append(max(answered))
        elif any(gold):
            # Instead of removing answers, which would lose context, passages that contain the answer are left out.
            samples[group, "answer removed against near"][0].append(others)
            samples[group, "first of ten"][0].append(float(gold[ranks.index(max(ranks))]))
    return samples


def _ten(index: BM25, question: str, own: int) -> list[int]:
    """Return a passage and the nine best others of its file by BM25."""
    return [own, *(i for i in index.best(question, PASSAGES) if i != own)][:PASSAGES]


def _by_words(question: str, text: str) -> tuple[int, int]:
    asked = set(words(question))
    return max(sentences(text), key=lambda place: len(asked & set(words(text[place[0] : place[1]]))), default=(0, 0))


def _overlaps(place: tuple[int, int], evidence: str, text: str) -> float:
    """Return 1 if most of a sentence overlaps with the evidence, else 0."""
    start = text.find(evidence)
    shared = min(place[1], start + len(evidence)) - max(place[0], start)
    return float(shared > 0.5 * min(place[1] - place[0], len(evidence)))


def _holds(text: str, question: dict[str, Any]) -> bool:
    wanted = [question["evidence"], *question["answers"]]
    flat = re.sub(r"\s+", " ", text)
    return any(re.sub(r"\s+", " ", part) in flat for part in wanted)


def _passages(path: Path, language: str) -> Iterator[tuple[str, str]]:
    """Yield a document's passages as (headings, text): blocks of a section, joined up to a maximum length."""
    heads = ["", "", "", ""]
    joined: list[str] = []

    def passage() -> tuple[str, str]:
        return " > ".join(filter(None, heads)), "\n".join(joined)

    for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")):
        text = block.strip()
        if found := re.match(r"(#{1,4})\s+(.*)", text):
            if joined:
                yield passage()
            level = len(found[1])
            heads[level - 1 :] = [found[2], *[""] * (4 - level)]
            joined, text = [], text[found.end() :].strip()
        if text and joined and sum(map(len, joined)) + len(text) > _LENGTH[language]:
            yield passage()
            joined = []
        if text:
            joined.append(text)
    if joined:
        yield passage()


def table(title: str, columns: dict[str, Samples]) -> str:
    """Return a set's figures as a Markdown table, with the numbers of questions."""
    keys = {key for samples in columns.values() for key in samples}
    groups = [group for group in ("en", "zh", "across") if any(key[0] == group for key in keys)]
    text = [f"| {title} | questions | {' | '.join(columns)} |", "|---|---" + "|---" * len(columns) + "|"]
    for group in groups:
        for row, figure in ROWS.items():
            if (group, row) not in keys:
                continue
            found = [samples.get((group, row), [[], []]) for samples in columns.values()]
            sides = 2 if figure is auc else 1
            cells = [with_interval(figure, *own[:sides]) if own[0] else "" for own in found]
            counts = "/".join(str(max(len(own[side]) for own in found)) for side in range(sides))
            text.append(f"| {group}: {row} | {counts} | {' | '.join(cells)} |")
    return "\n".join(text)


def main() -> None:
    """Evaluate readers from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", type=Path, nargs="*", help="folders with model.onnx and tokenizer.json")
    parser.add_argument("--authored", type=Path, nargs="*", default=[], help="files in the authored format")
    parser.add_argument("--answers", nargs="*", default=[], help="sets of tests/conversations/data/answers, by name")
    options = parser.parse_args()
    readers = {str(folder): OnnxReader(folder).read for folder in options.readers}
    for path in options.authored:
        passages = read(path)
        columns = {"BM25": authored(passages, None)}
        columns |= {name: authored(passages, reader) for name, reader in readers.items()}
        print(table(path.name, columns), end="\n\n", flush=True)
    for name in options.answers:
        columns = {"BM25": answers(name, None)}
        columns |= {reader: answers(name, read) for reader, read in readers.items()}
        print(table(name, columns), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
