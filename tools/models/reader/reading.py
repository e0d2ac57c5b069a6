"""Run exported models on one text or pair at a time, like the site: in a batch, quantisation would differ."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from tools.models.reader.pairs import BEGIN, END, join, load_tokenizer
from tools.models.reader.search import Embed
from tools.models.reader.texts import headed, sentences

EMBEDDING = Path(__file__).resolve().parents[3] / "retrieval" / "bundled" / "multilingual-e5-small-int8"
# The most tokens of a passage that are embedded.
EMBEDDED = 256


@dataclass(frozen=True, slots=True)
class Reading:
    """The outputs for a pair: `answered` is the log probability that the passage answers; `rank` orders passages.

    `strength` is by how much a short answer and an answering sentence are preferred to none, in logits, which the site
    uses. `sentence` is the position in the text of the sentence that contains the short answer.
    """

    answered: float
    strength: float
    rank: float
    sentence: tuple[int, int]


class OnnxReader:
    """A reader in a folder with `model.onnx` and `tokenizer.json`, run on one thread."""

    def __init__(self, folder: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._outputs = [output.name for output in self._session.get_outputs()]
        self._tokenizer = load_tokenizer(folder / "tokenizer.json")
        self._kept: dict[tuple[str, str, str], Reading] = {}

    def read(self, question: str, title: str, text: str) -> Reading:
        """Return a pair's reading, which is cached."""
        key = question, title, text
        if key not in self._kept:
            self._kept[key] = self._read(*key)
        return self._kept[key]

    def _read(self, question: str, title: str, text: str) -> Reading:
        asked = self._tokenizer.encode(question, add_special_tokens=False).ids
        whole = headed(title, text)
        encoded = self._tokenizer.encode(whole, add_special_tokens=False)
        ids, start = join(asked, encoded.ids)
        given = np.array([ids], np.int64)
        found = self._session.run(None, {"input_ids": given, "attention_mask": np.ones_like(given)})
        outputs = dict(zip(self._outputs, found, strict=True))
        logits = outputs["answers"][0].astype(float)
        answered = logits[2] - float(np.logaddexp.reduce(logits))
        offsets = encoded.offsets[: len(ids) - start - 1]
        shift = len(whole) - len(text)
        sentence = _sentence(outputs["span"][0, start:-1], [(a - shift, b - shift) for a, b in offsets], text)
        strength = sum(
            float(place[start:-1].max(axis=0).sum() - place[0].sum()) if len(place) > start + 1 else -np.inf
            for place in (outputs["span"][0], outputs["evidence"][0])
        )
        return Reading(answered, strength, float(outputs["rank"][0]), sentence)


def _sentence(span: NDArray[np.float32], offsets: list[tuple[int, int]], text: str) -> tuple[int, int]:
    """Return the sentence that most likely contains the answer's start and end."""
    best, place = -np.inf, (0, 0)
    for start, end in sentences(text):
        within = [i for i, (a, b) in enumerate(offsets) if a < end and b > start]
        if within and (strength := float(span[within].max(axis=0).sum())) > best:
            best, place = strength, (start, end)
    return place


def bundled_embedding(threads: int) -> Embed:
    """Return a function that embeds texts, which begin with `query: ` or `passage: `, with the bundled model."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(EMBEDDING / "model.onnx"), options, providers=["CPUExecutionProvider"])
    tokenizer = load_tokenizer(EMBEDDING / "tokenizer.json")
    inputs = {given.name for given in session.get_inputs()}

    def one(text: str) -> NDArray[np.float32]:
        ids = np.array([[BEGIN, *tokenizer.encode(text, add_special_tokens=False).ids[: EMBEDDED - 2], END]])
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        states = session.run(None, {name: each for name, each in given.items() if name in inputs})[0]
        vector = states[0].mean(axis=0)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        with ThreadPoolExecutor(threads) as pool:
            return np.array(list(pool.map(one, texts)), np.float32)

    return embed
