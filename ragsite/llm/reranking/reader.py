"""The reader: a cross-encoder in this process that reads a question and a passage together.

It says how well a passage fits the question, whether it answers it, and in which sentence. The one that comes with the
site does all three (`config.json` beside it describes its inputs and outputs); any cross-encoder with one score per
pair may take its place, and says what its `calibration.json` makes of that score.
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

# `READER_MODEL` where nothing is to be read.
OFF = "off"
# Readings that are kept, of all questions together.
CACHED_READINGS = 4_096
# Tokens of a passage's head that are read, and characters of its content.
MAX_HEAD_TOKENS = 60
_MAX_CHARACTERS = 20_000
_OUTPUTS = ("answers", "rank", "span", "evidence")
# Of the three logits of `answers`.
_UNRELATED = 0
# Below, the strength of an answer says nothing more.
_LEAST = -25.0

_readings: OrderedDict[bytes, "Reading"] = OrderedDict()
_readings_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Passage:
    """What is read: a line above it (its title or headings), and its content.

    `starts` are the offsets at which its sentences, or a table's rows, start; the first is 0.
    """

    head: str
    content: str
    starts: tuple[int, ...] = (0,)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a passage is worth for a question.

    `rank` is a score to order passages by, of no unit. `answers` is about the log odds that the passage answers the
    question (natural logarithm), and `related` those that it is about what is asked; None of a model that doesn't tell.
    Where it answers, the sentence or table row that does is `content[start:end]`, in characters. `sentences` tell of
    each where it starts, and by how much the model prefers an answer within it to none, in logits.
    """

    rank: float
    answers: float | None = None
    related: float | None = None
    start: int | None = None
    end: int | None = None
    sentences: tuple[tuple[int, float], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as the API shows it."""
        return {name: getattr(self, name) for name in ("rank", "answers", "related", "start", "end")}

    def moved(self, by: int) -> "Reading":
        """Return the reading of a text in which the passage stands so many characters from the beginning."""
        return replace(
            self,
            start=None if self.start is None else self.start + by,
            end=None if self.end is None else self.end + by,
            sentences=tuple((start + by, strength) for start, strength in self.sentences),
        )

    @classmethod
    def joined(cls, parts: Sequence["Reading"]) -> "Reading":
        """Return the reading of a text that was read in parts, given as places in it: the best of each."""
        best = max(parts, key=lambda part: part.rank if part.answers is None else part.answers)
        return replace(
            best,
            rank=max(part.rank for part in parts),
            related=max((part.related for part in parts if part.related is not None), default=None),
            sentences=tuple(sentence for part in parts for sentence in part.sentences),
        )


class Reader:
    """Reads the passages of a question side by side; what was read before is kept, by question and text.

    The model reads one pair at a time; its `places` are the questions that may be read at once.
    Equal questions and passages have equal readings, whatever is read beside them.
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
        """Return a reading for each passage, in order, None for those that weren't read within so many `seconds`.

        When cancelled, the passages under way are the last.
        Raises `LLMError`; `Busy` at once where twice as many other questions are being read as there are threads, since
        this one would only keep them waiting. Who is `patient` waits for these.
        """
        keys = {passage: self._key(question, passage) for passage in passages}
        found = {passage: reading for passage, key in keys.items() if (reading := _recall(key)) is not None}
        missing = [passage for passage in keys if passage not in found]
        if missing:
            stop = threading.Event()

            async def read_one(passage: Passage) -> None:
                found[passage] = await self._model.read(question, passage, stop)
                _remember(keys[passage], found[passage])

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

    def _key(self, question: str, passage: Passage) -> bytes:
        text = "\0".join((self.name, question, passage.head, passage.content))
        return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


class FourHeads:
    """The bundled reader, or another in a folder whose `config.json` names the same four outputs.

    Passages are read one at a time on as many threads as embedding has. Several in a batch take as long, and what one
    is worth would depend on the others: activations are quantised by the range of all of them. What doesn't fit is
    read in windows of whole sentences, and the best of these counts.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.calibration = ModelCard.of(folder).reader
        told = description(folder)
        self._begin, self._end = int(told.get("bos_token_id", 0)), int(told.get("eos_token_id", 2))
        self._max_tokens = int(told.get("max_length", 384))
        self._max_question_tokens = int(told.get("max_question_tokens", 80))
        self._loading = threading.Lock()
        self._loaded: tuple[InferenceSession, Tokenizer] | None = None

    @property
    def places(self) -> int:
        """As many as there are threads."""
        return settings.EMBEDDING_THREADS or os.cpu_count() or 1

    async def read(self, question: str, passage: Passage, stop: threading.Event) -> Reading:
        """Return a passage's reading; once `stop` is set, no further window is read."""
        return await asyncio.get_running_loop().run_in_executor(
            _threads(self.places), self._read, question, passage, stop
        )

    def _read(self, question: str, passage: Passage, stop: threading.Event) -> Reading:
        """Read a passage; where it seems to answer, once more only the sentence that does and its neighbours.

        What `answers` is their mean then: of what merely looks like an answer, less is left on its own.
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
        # A token's white space stands before it, at the end of the sentence before.
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
                raise BadReply("The reader gives scores that are no numbers.")
            parts.append(self._reading(logits, len(before), len(head), units[first:last], passage))
        return Reading.joined(parts)

    def _reading(
        self, logits: Sequence[NDArray[Any]], begin: int, head: int, units: NDArray[Any], passage: Passage
    ) -> Reading:
        """Return what the outputs for a window say; its text starts at `begin`, its content `head` tokens later."""
        classes, rank, span, evidence = logits
        odds = np.exp(classes - classes.max())
        related = float(np.log((odds.sum() - odds[_UNRELATED]) / odds[_UNRELATED]))
        if len(span) <= begin + 1:
            return Reading(float(rank), None, related)
        # Of the short answer and of the sentence around it, against the first position, which stands for no place.
        strength = sum(
            max(float(place[begin:-1].max(axis=0).sum() - place[0].sum()), _LEAST) for place in (span, evidence)
        )
        slope, intercept = self.calibration.answers or (1.0, 0.0)
        answers = slope * strength + intercept
        if not len(units):
            return Reading(float(rank), answers, related)
        # Of each sentence, the greatest logit of a short answer's start and that of its end.
        firsts = np.flatnonzero(np.diff(units, prepend=-1))
        strengths = np.maximum.reduceat(span[begin + head : -1], firsts, axis=0).sum(axis=1) - span[0].sum()
        sentences = zip((passage.starts[unit] for unit in units[firsts]), map(float, strengths), strict=True)
        best = int(units[firsts[strengths.argmax()]])
        start, end = _bounds(passage, best) if answers >= 0 else (None, None)
        return Reading(float(rank), answers, related, start, end, tuple(sentences))

    def _load(self) -> "tuple[InferenceSession, Tokenizer]":
        with self._loading:
            if self._loaded is None:
                self._loaded = _session(self._folder), _tokenizer(self._folder)
            return self._loaded


class OneScore:
    """Any cross-encoder with one score per pair, by name or from a folder, as rerankers are loaded."""

    # It works on a thread of its own, one question at a time.
    places = 1

    def __init__(self, model: str) -> None:
        folder = folder_of(model)
        self.calibration = ModelCard.of(folder).reader if folder else ReaderCalibration()
        self._reranker = local_reranker(model)

    async def read(self, question: str, passage: Passage, stop: threading.Event) -> Reading:
        """Return a passage's score as its rank, and by the calibration as what it answers."""
        text = "\n".join(filter(None, (passage.head, passage.content)))
        (logit,) = await self._reranker.logits(question, [text])
        line = self.calibration.answers
        return Reading(logit, None if line is None else line[0] * logit + line[1])


@cache
def get_reader(model: str) -> Reader:
    """Return the process's one reader of a model, as `reader_folder` takes it. Loading waits for the first text.

    Raises `LocalModelNotFound` for a folder that isn't there.
    """
    folder = reader_folder(model)
    if folder is not None and has_heads(folder):
        return Reader(model, FourHeads(folder))
    return Reader(model, OneScore(model if folder is None else str(folder)))


def reader_folder(model: str) -> Path | None:
    """Return the folder of a model: `bundled`, the name of one among the site's readers, a path; None for other names.

    Raises `LocalModelNotFound` for a folder that isn't there.
    """
    if model == BUNDLED:
        return Path(settings.BUNDLED_READER_DIR)
    own = own_folder() / model
    return own if own.parent == own_folder() and own.is_dir() else folder_of(model)


def own_folder() -> Path:
    """Return where readers are put, each in a folder by whose name it is called."""
    return Path(settings.DATA_DIR) / "models" / "readers"


def has_heads(folder: Path) -> bool:
    """Whether the model in a folder has the outputs of the bundled one, and so finds where a passage answers."""
    return set(_OUTPUTS) <= set(description(folder).get("outputs", ()))


@caches.register
def forget_readings() -> None:
    """Let go of what was read, so that it is read anew: how long that takes is to be measured."""
    with _readings_lock:
        _readings.clear()


def forget_readers() -> None:
    """Let go of all models that read, one on trial among them; those that are needed are loaded again."""
    get_reader.cache_clear()
    local_reranker.cache_clear()


def _recall(key: bytes) -> Reading | None:
    with _readings_lock:
        if key in _readings:
            _readings.move_to_end(key)
        return _readings.get(key)


def _remember(key: bytes, reading: Reading) -> None:
    with _readings_lock:
        _readings[key] = reading
        while len(_readings) > CACHED_READINGS:
            _readings.popitem(last=False)


@cache
def _threads(count: int) -> ThreadPoolExecutor:
    """Return the process's threads that read, whatever the model."""
    return ThreadPoolExecutor(count, thread_name_prefix="reader")


def _windows(units: NDArray[Any], room: int) -> Iterator[tuple[int, int]]:
    """Yield the windows (first token, last token) of a text of which at most `room` tokens can be read at once.

    `units` are the sentences that its tokens belong to; only one that doesn't fit alone is cut.
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
    """Return the sentence that answers with the one before and the one after, None if that is all or none does."""
    if reading.start is None:
        return None
    unit = bisect_right(passage.starts, reading.start) - 1
    starts = passage.starts[max(0, unit - 1) : unit + 2]
    end = passage.starts[unit + 2] if unit + 2 < len(passage.starts) else len(passage.content)
    if end - starts[0] == len(passage.content):
        return None
    return Passage(passage.head, passage.content[starts[0] : end], tuple(start - starts[0] for start in starts))


def _bounds(passage: Passage, unit: int) -> tuple[int, int]:
    """Return where a sentence begins and ends, without the white space around it."""
    start = passage.starts[unit]
    text = passage.content[start : passage.starts[unit + 1] if unit + 1 < len(passage.starts) else None]
    return start + len(text) - len(text.lstrip()), start + len(text.rstrip())


def _session(folder: Path) -> "InferenceSession":
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # A thread each: passages are read side by side. Spinning threads would take the cores from what runs beside them.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(
            str(folder / weights_in(folder)), options, providers=["CPUExecutionProvider"]
        )
    except failures() as error:
        raise LocalModelNotFound(f"The reader in {folder} can't be loaded: {error}") from error


def _tokenizer(folder: Path) -> Tokenizer:
    """Return a model's tokenizer, which neither cuts nor pads: the one there is where that is the same."""
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
