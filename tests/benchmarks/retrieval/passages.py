"""The texts to search: real documentation, chunked like on the site, and further texts combined from its halves."""

import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation import gettext as _

from knowledge.chunking.chunking import chunk
from knowledge.parsing.errors import ParseError
from knowledge.parsing.registry import ParseContext, extensions, format_of
from ragsite.language.sentences import split_sentences
from ragsite.llm.passage_tokens import count_tokens

# A knowledge base's defaults.
CHUNK_SIZE, CHUNK_OVERLAP = 200, 30
# Shorter passages, such as lone headings, contain too little to search for.
SHORTEST = 80  # characters


class NoTexts(Exception):
    """There are no texts to measure with. The message says where they were searched for."""


@dataclass(frozen=True, slots=True)
class Crossover:
    """The first half of one passage and the second half of another, or both halves of the same passage."""

    first: int
    second: int


def read(paths: Sequence[Path], limit: int) -> list[tuple[str, str]]:
    """Return up to `limit` distinct passages of folders and BEIR-style JSONL files as (id, text).

    Files in folders are parsed and split like uploads. Raises `NoTexts`.
    """
    passages: dict[str, str] = {}
    for path in paths:
        for name, text in _read_jsonl(path) if path.suffix == ".jsonl" else _read_folder(path):
            if len(passages) >= limit:
                break
            passages.setdefault(text.replace("\0", ""), name)
    if not passages:
        raise NoTexts(_("No passage was found in %(paths)s.") % {"paths": ", ".join(map(str, paths))})
    return [(name, text) for text, name in passages.items()]


def write(passages: Sequence[tuple[str, str]], path: Path) -> None:
    """Write passages as a BEIR-style JSONL file, so that later runs needn't parse."""
    with path.open("w", encoding="utf-8") as file:
        for name, text in passages:
            file.write(json.dumps({"_id": name, "title": "", "text": text}, ensure_ascii=False) + "\n")


def _read_jsonl(path: Path) -> Iterator[tuple[str, str]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            passage = json.loads(line)
            yield str(passage["_id"]), "\n".join(part for part in (passage.get("title"), passage["text"]) if part)


def _read_folder(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the passages of each file that the site can read, in a fixed order that mixes the folders."""
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower().lstrip(".") in extensions())
    random.Random(0).shuffle(files)
    for file in files:
        try:
            passages = list(_passages(file))
        except (ParseError, OSError):
            continue  # documentation contains stray files, which don't matter to a benchmark
        yield from ((f"{file.relative_to(folder)}#{number}", text) for number, text in enumerate(passages))


def _passages(file: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="ragsite-bench-") as pictures:
        elements = format_of(file.name).load()(file, ParseContext(Path(pictures), file.name))
        for draft in chunk(elements, size=CHUNK_SIZE, overlap=CHUNK_OVERLAP, count_tokens=count_tokens):
            if len(draft.content) >= SHORTEST:
                yield "\n".join(part for part in (" › ".join(draft.heading_path), draft.lead, draft.content) if part)


def halves(text: str) -> tuple[str, str]:
    """Cut a passage between two sentences, as near to its middle as possible; the second half may be empty."""
    first, length = "", len(text)
    for sentence in split_sentences(text):
        if first and len(first) + len(sentence) / 2 > length / 2:
            break
        first += sentence
    return first.rstrip(), text[len(first) :].strip()


def crossovers(sources: int, size: int) -> Iterator[Crossover]:
    """Yield `size` passages from `sources` real ones: first each by itself, then halves joined at random.

    Words thus keep their natural frequencies and contexts, but no new words appear: rare words are more frequent than
    in real text of that size, which makes searching by the rarest words harder, not easier.
    """
    rng = random.Random(1)
    for number in range(size):
        if number < sources:
            yield Crossover(number, number)
        else:
            yield Crossover(rng.randrange(sources), rng.randrange(sources))
