"""Embedding models in this process (fastembed, ONNX Runtime): the bundled one, or others by name or folder."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from ragsite.llm.embedding import model_files
from ragsite.llm.embedding.model_card import ModelCard
from ragsite.llm.errors import LocalModelNotFound

if TYPE_CHECKING:
    from fastembed import TextEmbedding

M = TypeVar("M")
BUNDLED = "bundled"
# With 512, results are worse on most evaluation sets and cost twice as much: docs/decisions/embedding.md.
MAX_TOKENS = 256
# The rest of a text can't fit into MAX_TOKENS and needn't be tokenised.
_MAX_CHARACTERS = 32 * MAX_TOKENS
# Limits of a batch, in texts and in padded tokens: ONNX Runtime never releases the memory of its largest batch.
MAX_BATCH_TEXTS = 32
MAX_BATCH_TOKENS = 1024
_COUNTED_AT_ONCE = 128
# Prefixes of queries and documents for families of models whose files don't state them.
_PREFIXES = {
    "e5-": ("query: ", "passage: "),
    "nomic-embed": ("search_query: ", "search_document: "),
    "arctic-embed": ("Represent this sentence for searching relevant passages: ", ""),
    "mxbai-embed": ("Represent this sentence for searching relevant passages: ", ""),
}
# The prefix of names under which models from folders are registered with fastembed.
IN_FOLDER = "folder/"
_loading = threading.Lock()


class LocalEmbedder:
    """A fastembed model: `bundled`, one that was added to the site, a name that fastembed knows, or a folder.

    A folder contains an ONNX model and its tokenizer; `files` is the folder of a model that is being added. A model
    that is only known by name is downloaded once to the data folder; all others work offline. The model is loaded with
    the first text. Raises `LocalModelNotFound` if it can't be found or loaded.
    """

    provider = "local"

    def __init__(self, model: str = BUNDLED, *, files: Path | None = None) -> None:
        self.model = model
        self._files = files or (None if model == BUNDLED else model_files.added(model))
        self._stamp = _stamp(self._files)
        # Files of a model that fastembed knows are loaded according to its own description.
        described = self._files is not None and model_files.known_to_fastembed(model) is not None
        self._folder = None if described else self._files
        if self._files is None:
            self._folder = Path(settings.BUNDLED_MODEL_DIR) if model == BUNDLED else folder_of(model)
        if self._folder:
            description = self._folder / "config.json"
            try:
                self.dimension = int(json.loads(description.read_text())["hidden_size"])
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise LocalModelNotFound(f"{description} doesn't contain the model's hidden_size.") from error
        else:
            import fastembed

            try:
                self.dimension = fastembed.TextEmbedding.get_embedding_size(model)
            except ValueError as error:
                raise LocalModelNotFound(f"fastembed knows no embedding model {model!r}.") from error
        folder = self._folder or self._files
        card = ModelCard.of(folder) if folder is not None else ModelCard()
        self.languages = languages_of(model)
        self.calibration = card.calibration
        family = next((prefixes for mark, prefixes in _PREFIXES.items() if mark in model.lower()), ("", ""))
        self._query_prefix = family[0] if card.query_prefix is None else card.query_prefix
        self._document_prefix = family[1] if card.document_prefix is None else card.document_prefix
        self._loaded: TextEmbedding | None = None

    @property
    def is_current(self) -> bool:
        """Whether the model's files are still the same: a model may be removed and added again."""
        return self.model == BUNDLED or _stamp(model_files.added(self.model)) == self._stamp

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (texts, dimension) unit vectors in the order of the texts. Blocking and thread-safe."""
        return self._embed([self._document_prefix + text[:_MAX_CHARACTERS] for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return (dimension,): the query's unit vector."""
        vector: NDArray[np.float32] = self._embed([self._query_prefix + text[:_MAX_CHARACTERS]])[0]
        return vector

    def _embed(self, texts: list[str]) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        if not texts:
            return vectors
        model = self._load()
        # Tokenising twice takes 2 % of the time; batches sorted by estimated lengths had 19 % padding instead of 3 %.
        lengths = [MAX_TOKENS] if len(texts) == 1 else []
        for start in range(0, len(texts) if len(texts) > 1 else 0, _COUNTED_AT_ONCE):
            encodings = model.model.tokenize(texts[start : start + _COUNTED_AT_ONCE])  # type: ignore[attr-defined]
            lengths += [sum(encoding.attention_mask) for encoding in encodings]
        for batch in batches(lengths):
            vectors[batch] = list(model.embed([texts[index] for index in batch], batch_size=len(batch)))
        return normalise(vectors)

    def _load(self) -> "TextEmbedding":
        with _loading:
            if self._loaded is None:
                self._loaded = _load(self.model, self._folder, self.dimension, self._files)
            return self._loaded


def normalise(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows (…, dimension) scaled to length 1; rows of zeros are unchanged."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: NDArray[np.float32] = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield batches of the indexes of texts, longest first, so that there is little padding; lengths are in tokens.

    The largest batch comes first and allocates all the memory that will be needed.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if batch and (len(batch) == MAX_BATCH_TEXTS or lengths[batch[0]] * (len(batch) + 1) > MAX_BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def languages_of(model: str) -> list[str]:
    """Return the languages of a model according to its card, or else its name; empty means every language."""
    folder = Path(settings.BUNDLED_MODEL_DIR) if model == BUNDLED else model_files.added(model) or Path(model)
    card = ModelCard.of(folder)
    if card.languages is not None:
        return list(card.languages)
    name = model.lower()
    if "multilingual" in name or "bge-m3" in name or "jina-embeddings-v3" in name or "gte-multi" in name:
        return []
    if "jina-embeddings-v2-base-zh" in name:
        return ["en", "zh"]
    return ["zh"] if "-zh" in name else ["en"]


def folder_of(model: str) -> Path | None:
    """Return the folder of a model given by path, or None for a name; raises `LocalModelNotFound` for a wrong path."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    if folder.is_absolute() or model.startswith((".", "~")):
        raise LocalModelNotFound(f"{model} is not a folder.")
    return None


def _stamp(folder: Path | None) -> tuple[int, int]:
    """Return values that distinguish a folder from its replacement; zeros for no folder."""
    with suppress(OSError):
        if folder:
            found = folder.stat()
            return found.st_ino, found.st_mtime_ns
    return 0, 0


def _load(model: str, folder: Path | None, dimension: int, files: Path | None) -> "TextEmbedding":
    from fastembed import TextEmbedding
    from fastembed.common.model_description import PoolingType

    # One thread is best for the bundled model, which is small: two batches in parallel on one thread each are faster
    # than one after the other on two. None means a thread per core.
    threads = 1 if model == BUNDLED else settings.EMBEDDING_THREADS or None
    name, described = model, {}
    try:
        if folder:
            name = f"{IN_FOLDER}{folder}{f'@{_stamp(folder)[0]}' if files else ''}"
            pooling = folder / "1_Pooling" / "config.json"
            first = pooling.exists() and json.loads(pooling.read_text()).get("pooling_mode_cls_token")
            described = {"pooling": PoolingType("CLS" if first else "MEAN"), "normalization": True, "dim": dimension}
        return load(TextEmbedding, name, folder or files, threads, MAX_TOKENS, **described)
    except failures() as error:
        raise LocalModelNotFound(f"The embedding model {model!r} can't be loaded: {error}") from error


def load(kind: type[M], name: str, folder: Path | None, threads: int | None, most_tokens: int, **described: Any) -> M:
    """Return a model of one of fastembed's classes, which reads at most `most_tokens`; raises `failures`.

    Its files are those in the folder, or else downloaded by name to the data folder. `described` is the description
    for fastembed of a model whose name begins with `IN_FOLDER`.
    """
    from fastembed.common.model_description import ModelSource

    cls: Any = kind
    names = (each["model"] for each in cls.list_supported_models())
    if folder and name.startswith(IN_FOLDER) and name not in names:
        cls.add_custom_model(model=name, sources=ModelSource(hf=name), model_file=weights_in(folder), **described)
    loaded: Any = cls(
        name,
        cache_dir=str(settings.DATA_DIR / "models"),
        threads=threads,
        specific_model_path=str(folder) if folder else None,
        providers=["CPUExecutionProvider"],
        lazy_load=True,
    )

    def share_cores(session_options: Any, extra_options: dict[str, Any]) -> None:
        """Let ONNX Runtime's threads sleep while they wait for each other.

        Spinning threads would take the cores from everything else: docs/decisions/embedding.md.
        """
        session_options.add_session_config_entry("session.intra_op.allow_spinning", "0")

    loaded.model.add_extra_session_options = share_cores  # fastembed's hook
    loaded.model.load_onnx_model()
    tokenizer = getattr(loaded.model, "tokenizer", None)
    if tokenizer is not None and tokenizer.truncation and tokenizer.truncation["max_length"] > most_tokens:
        tokenizer.enable_truncation(max_length=most_tokens)
    return cast(M, loaded)


def weights_in(folder: Path) -> str:
    """Return the path of a model's weights in its folder."""
    return "model.onnx" if (folder / "model.onnx").exists() else "onnx/model.onnx"


def failures() -> tuple[type[Exception], ...]:
    """Return the exceptions of loading and running a model; ONNX Runtime's have no common base class."""
    from onnxruntime.capi import onnxruntime_pybind11_state as onnx

    return (OSError, ValueError, KeyError, RuntimeError, onnx.EPFail, onnx.EngineError, onnx.Fail, onnx.InvalidArgument,
            onnx.InvalidGraph, onnx.InvalidProtobuf, onnx.ModelLoaded, onnx.NoModel, onnx.NoSuchFile,
            onnx.NotImplemented, onnx.RuntimeException)  # fmt: skip
