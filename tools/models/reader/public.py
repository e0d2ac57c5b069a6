"""Build training groups from public question sets.

    python -m tools.models.reader.public RAW public.jsonl.xz

RAW contains the files in `SOURCES`, under these names; README.md lists their origins and licences. Missing files are
skipped and reported. A question's own passage is accompanied by the best others of its article that don't contain the
answer (near), by itself without the answering sentences (near), and by passages of other articles (unrelated). Some
questions are repeated with another year, number or title that their passage doesn't contain (near).
"""

import argparse
import gzip
import json
import lzma
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tools.models.reader.authored import lines
from tools.models.reader.data import ANSWERED, NEAR, UNRELATED, Group, Item
from tools.models.reader.texts import BM25, headed, sentences

MAX_CHARACTERS = {"en": 2_200, "zh": 900}
# Sources with one passage per article; the most similar passages of other articles are used, although unchecked.
_ALONE = {"nq", "qed", "clapnq", "boolq"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question on a passage of an article; `answers` may also be empty for answerable questions."""

    source: str
    lang: str
    article: str
    title: str
    text: str
    question: str
    answers: tuple[str, ...]
    answerable: bool = True


def squad(path: Path, source: str, lang: str, convert: Callable[[str], str] = str) -> Iterator[Asked]:
    """Yield the questions in a file in SQuAD's format."""
    for number, article in enumerate(json.loads(path.read_text(encoding="utf-8"))["data"]):
        title = convert(str(article.get("title") or "")).replace("_", " ").strip()
        for paragraph in article["paragraphs"]:
            text = _flat(convert(paragraph["context"]))
            for asked in paragraph["qas"] if len(text) <= MAX_CHARACTERS[lang] else []:
                given = [answer["text"] if isinstance(answer, dict) else answer for answer in asked.get("answers", [])]
                answerable = bool(given) and not asked.get("is_impossible")
                answers = _answers(map(convert, given)) if answerable else ()
                question = _flat(convert(asked["question"]))
                yield Asked(source, lang, f"{number} {title}", title, text, question, answers, answerable)


def drcd(path: Path, source: str, lang: str) -> Iterator[Asked]:
    """Yield the questions of DRCD, converted to simplified Chinese."""
    from opencc import OpenCC

    yield from squad(path, source, lang, OpenCC("t2s").convert)


def natural_questions(path: Path, source: str, lang: str) -> Iterator[Asked]:
    """Yield the questions of nq-open-oracle, on their gold paragraphs."""
    for line in gzip.decompress(path.read_bytes()).decode().split("\n"):
        if line.strip():
            row = json.loads(line)
            gold = row["nq_annotated_gold"]
            text = gold["long_answer"] if 80 < len(gold["long_answer"]) < 2_000 else row["ctxs"][0]["text"]
            title = gold["title"]
            yield Asked(source, lang, title, title, _flat(text), row["question"], _answers(row["answers"]))


def qed(path: Path, source: str, lang: str) -> Iterator[Asked]:
    """Yield the questions of QED."""
    for line in lines(path):
        row = json.loads(line)
        parts = (y for x in row["original_nq_answers"] for y in (x if isinstance(x, list) else [x]))
        answers = _answers(_joined(part["string"]) for part in parts)
        title, text = row["title_text"], _flat(_joined(row["paragraph_text"]))
        yield Asked(source, lang, title, title, text, row["question_text"], answers)


def clapnq(path: Path, source: str, lang: str) -> Iterator[Asked]:
    """Yield the first 150 questions in a file of ClapNQ; the others are reserved for evaluation."""
    for line in list(lines(path))[:150]:
        row = json.loads(line)
        passage, output = row["passages"][0], (row.get("output") or [{}])[0]
        title, text = passage["title"], _flat(_joined(passage["text"]))
        chosen = _answers(_flat(_joined(sentence)) for sentence in output.get("selected_sentences") or ())
        yield Asked(source, lang, title, title, text, row["input"], chosen, "unanswerable" not in path.name)


def boolq(path: Path, source: str, lang: str) -> Iterator[Asked]:
    """Yield the yes/no questions of BoolQ, whose answers aren't parts of the passage."""
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        columns = line.split("\t")
        if len(columns) >= 4 and len(columns[1]) < 2_000:
            title, _, text = columns[1].partition(" -- ")
            yield Asked(source, lang, title, title, _flat(text or title), columns[2], ())


def time_sensitive(path: Path, source: str, lang: str) -> Iterator[Asked]:
    """Yield the questions of Time-Sensitive QA, on the paragraph that contains an answer."""
    for line in gzip.decompress(path.read_bytes()).decode().split("\n"):
        row = json.loads(line) if line.strip() else {"targets": []}
        targets = _answers(_joined(target) for target in row["targets"] if target)
        for paragraph in row["paragraphs"] if targets else []:
            text = _flat(_joined(paragraph["text"]))
            if 80 < len(text) < 2_000 and any(target in text for target in targets):
                article = row["idx"].split("#")[0]
                yield Asked(source, lang, article, paragraph["title"], text, row["question"], targets)
                break


SOURCES: dict[str, tuple[Callable[..., Iterator[Asked]], str, str]] = {
    "squad-train.json": (squad, "squad", "en"),
    "squad-dev.json": (squad, "squad-dev", "en"),
    "expmrc-squad-dev.json": (squad, "expmrc", "en"),
    "nq-open-oracle.jsonl.gz": (natural_questions, "nq", "en"),
    "nq-qed-dev.jsonlines": (qed, "qed", "en"),
    "clapnq_dev_answerable.jsonl": (clapnq, "clapnq", "en"),
    "clapnq_dev_unanswerable.jsonl": (clapnq, "clapnq", "en"),
    "boolq-validation.tsv": (boolq, "boolq", "en"),
    "human_train.easy.json.gzip": (time_sensitive, "tsqa", "en"),
    "human_train.hard.json.gzip": (time_sensitive, "tsqa", "en"),
    "train-pseudo-cmrc2018.json": (squad, "cmrc", "zh"),
    "cmrc2018_dev.json": (squad, "cmrc-dev", "zh"),
    "cmrc2018_trial.json": (squad, "cmrc-trial", "zh"),
    "drcd_dev.json": (drcd, "drcd-dev", "zh"),
    "drcd_test.json": (drcd, "drcd-test", "zh"),
}


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _answers(parts: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for part in parts if (text := part.strip())))[:4]


def _joined(text: str) -> str:
    """Return a tokenised text in normal spelling."""
    for tokens, mark in (("`` ", '"'), (" ''", '"'), ("``", '"'), ("''", '"')):
        text = text.replace(tokens, mark)
    text = re.sub(r" ([.,;:?!%)\]])", r"\1", text)
    text = re.sub(r"([(\[$]) ", r"\1", text)
    return re.sub(r" (n't|'s|'re|'ve|'ll|'d|'m)\b", r"\1", text).replace(" - ", "-")


def groups_of(asked: Sequence[Asked], seed: int = 7) -> Iterator[Group]:
    """Yield a group for each question, and further groups whose questions ask for something else."""
    draw = random.Random(seed)
    for lang in ("en", "zh"):
        own = [question for question in asked if question.lang == lang]
        passages = list({(q.source, q.text): q for q in own}.values())
        index = BM25([headed(passage.title, passage.text) for passage in passages])
        for question in own:
            best = [passages[i] for i in index.best(question.question, 40)]
            written = question.question if draw.random() < 0.75 else question.question.rstrip("?？ ")
            yield Group(written, lang, question.source, list(_items(question, best, passages, draw)))
            if question.answerable and draw.random() < 0.3 and (other := _otherwise(question, passages, draw)):
                item = Item(headed(question.title, question.text), NEAR)
                yield Group(other, lang, f"{question.source}-otherwise", [item])


def _items(asked: Asked, best: Sequence[Asked], passages: Sequence[Asked], draw: random.Random) -> Iterator[Item]:
    title = asked.title if draw.random() < 0.75 else ""
    is_free = [other for other in best if not any(answer.lower() in other.text.lower() for answer in asked.answers)]
    like = [o for o in is_free if (o.source, o.article) == (asked.source, asked.article) and o.text != asked.text][:3]
    unlike = [other for other in is_free[:25] if (other.source, other.article) != (asked.source, asked.article)]
    found = next((answer for answer in asked.answers if answer in asked.text), None)
    # ClapNQ has whole sentences as answers, but no short ones.
    places = (None, found) if asked.source == "clapnq" else (found, None)
    yield Item(headed(title, asked.text), ANSWERED if asked.answerable else NEAR, *places)
    if asked.answerable and asked.answers and (rest := _without_answers(asked)):
        yield Item(headed(title, rest), NEAR)
    for other in draw.sample(like, min(len(like), 2 if asked.answerable else 1)):
        yield Item(headed(other.title, other.text), NEAR)
    for other in unlike[:1] if asked.source in _ALONE else draw.sample(unlike[:8], min(1, len(unlike))):
        yield Item(headed(other.title, other.text), UNRELATED)
    other = draw.choice(passages)
    if (other.source, other.article) != (asked.source, asked.article):
        yield Item(headed(other.title, other.text), UNRELATED)


def _without_answers(asked: Asked) -> str | None:
    parts = [asked.text[start:end].strip() for start, end in sentences(asked.text)]
    kept = [part for part in parts if not any(answer in part or part in answer for answer in asked.answers)]
    rest = ("" if asked.lang == "zh" else " ").join(kept)
    return rest if len(kept) < len(parts) and len(rest) > max(60, len(asked.text) / 4) else None


def _otherwise(asked: Asked, passages: Sequence[Asked], draw: random.Random) -> str | None:
    """Return the question with another year, number or title that its passage doesn't contain."""
    if numbers := list(re.finditer(r"\d{1,4}", asked.question)):
        found = draw.choice(numbers)
        by = draw.choice([-30, -11, -7, -4, -3, -2, 2, 3, 4, 6, 9, 12, 25])
        other = str(max(1, int(found[0]) + by))
        if other not in asked.text:
            return asked.question[: found.start()] + other + asked.question[found.end() :]
    title = draw.choice(passages).title
    if len(asked.title) > 1 and asked.title in asked.question and title and title not in asked.text:
        return asked.question.replace(asked.title, title)
    return None


def read_groups(*paths: Path) -> list[Group]:
    """Return the groups in files written by this program."""
    rows = [json.loads(line) for path in paths for line in lines(path)]
    return [Group(**{**group, "items": [Item(**item) for item in group["items"]]}) for group in rows]


def main() -> None:
    """Write the groups, from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("raw", type=Path)
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    asked: list[Asked] = []
    counts: dict[str, int] = defaultdict(int)
    for name, (reads, source, lang) in SOURCES.items():
        if not (options.raw / name).exists():
            print(f"{name} is missing", file=sys.stderr)
            continue
        found = [question for question in reads(options.raw / name, source, lang) if len(question.question) > 3]
        asked += found
        counts[source] += len(found)
    print(dict(counts), file=sys.stderr)
    with lzma.open(options.output, "wt", encoding="utf-8") as file:
        for group in groups_of(asked):
            file.write(json.dumps(asdict(group), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
