"""The reader: a cross-encoder in this process that reads a question and a passage together.

It scores how relevant a passage is, whether it answers the question, and in which sentence. The bundled reader does all
three (its inputs and outputs are described in its `config.json`). Any cross-encoder with one score per pair can replace
it; the score is interpreted according to its `calibration.json`.
"""

import asyncio
import hashlib
import os
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from django.conf import settings
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ragsite.llm.embedding.local import BUNDLED, failures, folder_of, weights_in
from ragsite.llm.embedding.model_card import ModelCard, ReaderCalibration
from ragsite.llm.embedding.model_files import description
from ragsite.llm.errors import BadReply, Busy, LocalModelNotFound
from ragsite.llm.passage_tokens import bundled_tokenizer
from ragsite.llm.reranking.local import local_reranker
from ragsite.runtime import caches

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

# The value of `READER_MODEL` that turns the reader off.
OFF = "off"
# The number of cached readings, for all questions together.
CACHED_READINGS = 4_096
# The most tokens of a passage's head that are read, and characters of its content.
MAX_HEAD_TOKENS = 60
_MAX_CHARACTERS = 20_000
_OUTPUTS = ("answers", "rank", "span", "evidence")
# The class among the three logits of `answers`.
_UNRELATED = 0
# The lower bound of an answer's strength; lower values mean nothing more.
_LEAST = -25.0

_readings: OrderedDict[bytes, "Reading"] = OrderedDict()
_readings_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage to read: its head (the title or headings) and its content.

    `starts` are the offsets of its sentences, or of a table's rows; the first is 0.
    """

    head: str
    content: str
    starts: tuple[int, ...] = (0,)


@dataclass(frozen=True, slots=True)
class Reading:
    """The scores of a passage for a question.

    `rank` is a score for ordering passages, without a unit. `answers` is approximately the log odds (natural logarithm)
    that the passage answers the question, and `related` those that it is on the question's topic; they are None if the
    model doesn't estimate them. If the passage answers the question, the sentence or table row that does is
    `content[start:end]`, in characters. `sentences` are (start, strength): by how much the model prefers an answer in
    the sentence to none, in logits.
    """

    rank: float
    answers: float | None = None
    related: float | None = None
    start: int | None = None
    end: int | None = None
    sentences: tuple[tuple[int, float], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that the API returns."""
        return {name: getattr(self, name) for name in ("rank", "answers", "related", "start", "end")}

    def moved(self, by: int) -> "Reading":
        """Return the reading for a text in which the passage is at the offset `by`, in characters."""
        return replace(
            self,
            start=None if self.start is None else self.start + by,
            end=None if self.end is None else self.end + by,
            sentences=tuple((start + by, strength) for start, strength in self.sentences),
        )

    @classmethod
    def joined(cls, parts: Sequence["Reading"]) -> "Reading":
        """Return the reading of a text that was read in parts, with offsets in the whole text: the best values."""
        best = max(parts, key=lambda part: part.rank if part.answers is None else part.answers)
        return replace(
            best,
            rank=max(part.rank for part in parts),
            related=max((part.related for part in parts if part.related is not None), default=None),
            sentences=tuple(sentence for part in parts for sentence in part.sentences),
        )


class Reader:
    """Reads the passages for a question in parallel; readings are cached by question and text.

    The model reads one pair at a time; `places` is the number of questions that can be read concurrently. The same
    question and passage always have the same reading, whatever else is being read.
    """

    def __init__(self, name: str, model: "FourHeads | OneScore") -> None:
        self.name = name
        self.calibration = model.calibration
        self._model = model
        self._running = 0
        self._lock = threading.Lock()

    async def read(
        self, question: str, passages: Sequence[Passage], *, patient: bool = False, seconds: float | None = None
    ) -> list[Reading | None]:
        """Return a reading for each passage, in order, or None for those that weren't read within `seconds`.

        After cancellation, only passages already being read are completed. Raises `LLMError`; `Busy` at once if twice
        as many questions as there are places are being read, which this one would delay, unless it is `patient`.
        """
        texts = {each: "\0".join((self.name, question, each.head, each.content)) for each in passages}
        keys = {
            passage: hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
            for passage, text in texts.items()
        }
        found: dict[Passage, Reading] = {}
        with _readings_lock:
            for passage, key in keys.items():
                if key in _readings:
                    _readings.move_to_end(key)
                    found[passage] = _readings[key]
        missing = [passage for passage in keys if passage not in found]
        if missing:
            stop = threading.Event()

            async def read_one(passage: Passage) -> None:
                found[passage] = await self._model.read(question, passage, stop)
                with _readings_lock:
                    _readings[keys[passage]] = found[passage]
                    while len(_readings) > CACHED_READINGS:
                        _readings.popitem(last=False)

            with self._place(patient):
                tasks = [asyncio.create_task(read_one(passage)) for passage in missing]
                try:
                    done, _late = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
                    for task in done:
                        task.result()
                finally:
                    stop.set()
                    for task in tasks:
                        task.cancel()
        return [found.get(passage) for passage in passages]

    @contextmanager
    def _place(self, patient: bool) -> Iterator[None]:
        with self._lock:
            if self._running >= 2 * self._model.places and not patient:
                raise Busy
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1


class FourHeads:
    """The bundled reader, or another one whose `config.json` lists the same four outputs.

    Passages are read one at a time, on as many threads as for embedding. A batch wouldn't be faster, and its scores
    would depend on each other: activations are quantised by the range of the whole batch. A passage that doesn't fit is
    read in windows of whole sentences, of which the best counts.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.calibration = ModelCard.of(folder).reader
        config = description(folder)
        self._begin, self._end = int(config.get("bos_token_id", 0)), int(config.get("eos_token_id", 2))
        self._max_tokens = int(config.get("max_length", 384))
        self._max_question_tokens = int(config.get("max_question_tokens", 80))
        self._loading = threading.Lock()
        self._loaded: tuple[InferenceSession, Tokenizer] | None = None

    @property
    def places(self) -> int:
        """The number of threads."""
        return settings.EMBEDDING_THREADS or os.cpu_count() or 1

    async def read(self, question: str, passage: Passage, stop: threading.Event) -> Reading:
        """Return a passage's reading; reads no further window once `stop` is set."""
        return await asyncio.get_running_loop().run_in_executor(
            _threads(self.places), self._read, question, passage, stop
        )

    def _read(self, question: str, passage: Passage, stop: threading.Event) -> Reading:
        """Read a passage; if it seems to answer, read the answering sentence with its neighbours again, on their own.

        `answers` is then the mean of both: the score of a false answer decreases without its context.
        """
        reading = self._read_windows(question, passage, stop)
        around = _around(passage, reading)
        if around is None or reading.answers is None or stop.is_set():
            return reading
        answers = (reading.answers + (self._read_windows(question, around, stop).answers or 0.0)) / 2
        return (
            replace(reading, answers=answers)
            if answers >= 0
            else replace(reading, answers=answers, start=None, end=None)
        )

    def _read_windows(self, question: str, passage: Passage, stop: threading.Event) -> Reading:
        session, tokenizer = self._load()
        asked = tokenizer.encode(question, add_special_tokens=False).ids[: self._max_question_tokens]
        head = tokenizer.encode(passage.head, add_special_tokens=False).ids[:MAX_HEAD_TOKENS]
        content = tokenizer.encode(passage.content[:_MAX_CHARACTERS], add_special_tokens=False)
        # A token includes the white space before it, which belongs to the previous sentence.
        units = np.array([bisect_right(passage.starts, max(start, end - 1)) - 1 for start, end in content.offsets], int)
        before = [self._begin, *asked, self._end, self._end]
        parts: list[Reading] = []
        for first, last in _windows(units, self._max_tokens - len(before) - len(head) - 1):
            if parts and stop.is_set():
                break
            ids = np.array([[*before, *head, *content.ids[first:last], self._end]], np.int64)
            try:
                outputs = session.run(_OUTPUTS, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
            except failures() as error:
                raise BadReply(f"The reader can't be run: {error}") from error
            logits = [np.asarray(output[0], np.float64) for output in outputs]
            if not all(np.isfinite(each).all() for each in logits):
                raise BadReply("The reader returns scores that aren't finite numbers.")
            parts.append(self._reading(logits, len(before), len(head), units[first:last], passage))
        return Reading.joined(parts)

    def _reading(
        self, logits: Sequence[NDArray[Any]], begin: int, head: int, units: NDArray[Any], passage: Passage
    ) -> Reading:
        """Return the reading of a window from its outputs; its head starts at `begin` and has `head` tokens."""
        classes, rank, span, evidence = logits
        odds = np.exp(classes - classes.max())
        related = float(np.log((odds.sum() - odds[_UNRELATED]) / odds[_UNRELATED]))
        if len(span) <= begin + 1:
            return Reading(float(rank), None, related)
        # Of the short answer and the sentence around it, relative to the first position, which means no answer.
        strength = sum(
            max(float(place[begin:-1].max(axis=0).sum() - place[0].sum()), _LEAST) for place in (span, evidence)
        )
        slope, intercept = self.calibration.answers or (1.0, 0.0)
        answers = slope * strength + intercept
        if not len(units):
            return Reading(float(rank), answers, related)
        # For each sentence, the sum of the highest logits of a short answer's start and end.
        firsts = np.flatnonzero(np.diff(units, prepend=-1))
        strengths = np.maximum.reduceat(span[begin + head : -1], firsts, axis=0).sum(axis=1) - span[0].sum()
        sentences = zip((passage.starts[unit] for unit in units[firsts]), map(float, strengths), strict=True)
        best = int(units[firsts[strengths.argmax()]])
        start = end = None
        if answers >= 0:
            start = passage.starts[best]
            text = passage.content[start : passage.starts[best + 1] if best + 1 < len(passage.starts) else None]
            # Without the white space around the sentence.
            start, end = start + len(text) - len(text.lstrip()), start + len(text.rstrip())
        return Reading(float(rank), answers, related, start, end, tuple(sentences))

    def _load(self) -> "tuple[InferenceSession, Tokenizer]":
        with self._loading:
            if self._loaded is None:
                self._loaded = _session(self._folder), _tokenizer(self._folder)
            return self._loaded


class OneScore:
    """Any cross-encoder with one score per pair, by name or from a folder, loaded as rerankers are."""

    # It runs on a thread of its own, one question at a time.
    places = 1

    def __init__(self, model: str) -> None:
        folder = folder_of(model)
        self.calibration = ModelCard.of(folder).reader if folder else ReaderCalibration()
        self._reranker = local_reranker(model)

    async def read(self, question: str, passage: Passage, stop: threading.Event) -> Reading:
        """Return a reading with the passage's score as `rank`, and `answers` according to the calibration."""
        text = "\n".join(filter(None, (passage.head, passage.content)))
        (logit,) = await self._reranker.logits(question, [text])
        line = self.calibration.answers
        return Reading(logit, None if line is None else line[0] * logit + line[1])


@cache
def get_reader(model: str) -> Reader:
    """Return the process's reader for a model, given as for `reader_folder`. It is loaded with the first text.

    Raises `LocalModelNotFound` for a folder that doesn't exist.
    """
    folder = reader_folder(model)
    if folder is not None and has_heads(folder):
        return Reader(model, FourHeads(folder))
    return Reader(model, OneScore(model if folder is None else str(folder)))


def reader_folder(model: str) -> Path | None:
    """Return the folder of a model: `bundled`, the name of one of the site's readers, or a path; None for other names.

    Raises `LocalModelNotFound` for a folder that doesn't exist.
    """
    if model == BUNDLED:
        return Path(settings.BUNDLED_READER_DIR)
    own = own_folder() / model
    return own if own.parent == own_folder() and own.is_dir() else folder_of(model)


def own_folder() -> Path:
    """Return the parent folder of the site's readers, each of which has the name of its folder."""
    return Path(settings.DATA_DIR) / "models" / "readers"


def has_heads(folder: Path) -> bool:
    """Return whether a model has the outputs of the bundled reader, and can therefore locate answers."""
    return set(_OUTPUTS) <= set(description(folder).get("outputs", ()))


@caches.register
def forget_readings() -> None:
    """Clear the cache of readings, as when reading is to be timed."""
    with _readings_lock:
        _readings.clear()


def forget_readers() -> None:
    """Unload all readers, including one on trial; they are loaded again when needed."""
    get_reader.cache_clear()
    local_reranker.cache_clear()


@cache
def _threads(count: int) -> ThreadPoolExecutor:
    """Return the process's threads for reading, which all models share."""
    return ThreadPoolExecutor(count, thread_name_prefix="reader")


def _windows(units: NDArray[Any], room: int) -> Iterator[tuple[int, int]]:
    """Yield windows (first token, end) of at most `room` tokens of a text.

    `units` are the numbers of the tokens' sentences; only a sentence that doesn't fit into a window is cut.
    """
    first = 0
    while True:
        last = min(first + room, len(units))
        if last < len(units) and (sentence := int(np.searchsorted(units, units[last]))) > first:
            last = sentence
        yield first, last
        if last == len(units):
            return
        first = last


def _around(passage: Passage, reading: Reading) -> Passage | None:
    """Return the answering sentence with its neighbours, or None if there is none or nothing else in the passage."""
    if reading.start is None:
        return None
    unit = bisect_right(passage.starts, reading.start) - 1
    starts = passage.starts[max(0, unit - 1) : unit + 2]
    end = passage.starts[unit + 2] if unit + 2 < len(passage.starts) else len(passage.content)
    if end - starts[0] == len(passage.content):
        return None
    return Passage(passage.head, passage.content[starts[0] : end], tuple(start - starts[0] for start in starts))


def _session(folder: Path) -> "InferenceSession":
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # One thread each, since passages are read in parallel. Spinning threads would take the cores from everything else.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(
            str(folder / weights_in(folder)), options, providers=["CPUExecutionProvider"]
        )
    except failures() as error:
        raise LocalModelNotFound(f"The reader in {folder} can't be loaded: {error}") from error


def _tokenizer(folder: Path) -> Tokenizer:
    """Return a model's tokenizer, without truncation and padding: the bundled one if they are identical."""
    path = folder / "tokenizer.json"
    try:
        described = path.read_bytes()
        if described == (Path(settings.BUNDLED_MODEL_DIR) / "tokenizer.json").read_bytes():
            return bundled_tokenizer()
        tokenizer = Tokenizer.from_str(described.decode())
    except Exception as error:  # tokenizers raises nothing more precise
        raise LocalModelNotFound(f"{path} can't be read: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
