"""The reader in torch: a BERT encoder that reads question and passage together, with several heads."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from tools.models import blocks
from tools.models.onnx_graph import EPSILON, POSITIONS, TYPES
from tools.models.reader.weights import HEADS, LAYERS, WIDTH, ReaderWeights

POSITION_COUNT = 512
# A layer's parts, and their names in Hugging Face's model.
_PARTS = {
    "out": "attention.output.dense",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "norm_attended": "attention.output.LayerNorm",
    "norm_inner": "output.LayerNorm",
}
_HEADS = ("pool", "answers", "rank", "span", "evidence", "supports")


class Layer(nn.Module):
    """A layer of BERT: attention and a feed-forward network, each followed by a residual sum and normalisation."""

    def __init__(self, drop: float) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.inner, self.outer = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norm_attended, self.norm_inner = (nn.LayerNorm(WIDTH, eps=EPSILON) for _ in range(2))
        self.drop = nn.Dropout(drop)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the layer's states [batch, tokens, width]; `mask` [batch, 1, 1, tokens] is false for padding."""
        batch, tokens, _ = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        attended = self.out(attended.transpose(1, 2).reshape(batch, tokens, WIDTH))
        x = self.norm_attended(x + self.drop(attended))
        return self.norm_inner(x + self.drop(self.outer(F.gelu(self.inner(x)))))


class Reader(nn.Module):
    """The encoder and its heads.

    `answers` (unrelated, near, answered), `rank`, and optionally `supports` (contradicted, not found, supported) are
    outputs for the pair; `span` and `evidence` are the start and end of the answer and of its sentence, per token.
    """

    def __init__(self, vocabulary: int, *, supports: bool = False, drop: float = 0.1) -> None:
        super().__init__()
        # Stored in 4 bits; if they were trained, they would have to be quantised again.
        self.words = nn.Embedding(vocabulary, WIDTH).requires_grad_(False)
        self.places = nn.Embedding(POSITION_COUNT, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.layers = nn.ModuleList(Layer(drop) for _ in range(LAYERS))
        self.drop = nn.Dropout(drop)
        self.pool = nn.Linear(2 * WIDTH, WIDTH)
        self.answers, self.rank = nn.Linear(WIDTH, 3), nn.Linear(WIDTH, 1)
        self.span, self.evidence = nn.Linear(WIDTH, 2), nn.Linear(WIDTH, 2)
        self.supports = nn.Linear(WIDTH, 3) if supports else None

    def upper(self, x: Tensor, mask: Tensor, layers: int) -> dict[str, Tensor]:
        """Return the outputs of the heads for the states after `layers` layers, by applying the remaining layers."""
        for layer in self.layers[layers:]:
            x = layer(x, mask[:, None, None, :])
        there = mask[:, :, None].to(x.dtype)
        mean = (x * there).sum(1) / there.sum(1)
        pooled = self.drop(torch.tanh(self.pool(torch.cat([x[:, 0], mean], 1))))
        outputs = {"answers": self.answers(pooled), "rank": self.rank(pooled)[:, 0]}
        outputs |= {"span": self.span(x), "evidence": self.evidence(x)}
        if self.supports is not None:
            outputs["supports"] = self.supports(pooled)
        return outputs

    def forward(self, ids: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """Return the outputs for IDs and a boolean mask [batch, tokens]."""
        return self.upper(self.norm(self.words(ids) + self.places.weight[: ids.shape[1]]), mask, 0)


def build(weights: ReaderWeights, *, supports: bool = False, drop: float = 0.1) -> Reader:
    """Return a reader with these weights; missing heads are initialised randomly."""
    net = Reader(len(weights.table[1]), supports=supports, drop=drop)
    state = net.state_dict()
    state["words.weight"] = torch.from_numpy(blocks.dequantise(*weights.table))
    for name, array in _state(weights.named).items():
        if name in state:
            state[name] = torch.from_numpy(np.array(array, np.float32))
    net.load_state_dict(state)
    return net


def _state(named: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return weights under this module's names."""
    state = {"places.weight": named[POSITIONS] + named[TYPES][:1]}
    for kind in ("weight", "bias"):
        state[f"norm.{kind}"] = named[f"embeddings.LayerNorm.{kind}"]
        for i in range(LAYERS):
            layer = f"encoder.layer.{i}."
            parts = [named[f"{layer}attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            state[f"layers.{i}.qkv.{kind}"] = np.concatenate(parts)
            state |= {f"layers.{i}.{part}.{kind}": named[f"{layer}{name}.{kind}"] for part, name in _PARTS.items()}
        state |= {f"{head}.{kind}": named[f"{head}.{kind}"] for head in _HEADS if f"{head}.{kind}" in named}
    return state


def named_of(net: Reader) -> dict[str, NDArray[Any]]:
    """Return a reader's weights, except for word embeddings, under the names in `tools.models.reader.weights`."""
    state = {name: tensor.detach().float().cpu().numpy() for name, tensor in net.state_dict().items()}
    named = {POSITIONS: state["places.weight"], TYPES: np.zeros((2, WIDTH), np.float32)}
    for kind in ("weight", "bias"):
        named[f"embeddings.LayerNorm.{kind}"] = state[f"norm.{kind}"]
        for i in range(LAYERS):
            layer = f"encoder.layer.{i}."
            joined = np.split(state[f"layers.{i}.qkv.{kind}"], 3)
            for part, array in zip(("query", "key", "value"), joined, strict=True):
                named[f"{layer}attention.self.{part}.{kind}"] = array
            named |= {f"{layer}{name}.{kind}": state[f"layers.{i}.{part}.{kind}"] for part, name in _PARTS.items()}
        named |= {f"{head}.{kind}": state[f"{head}.{kind}"] for head in _HEADS if f"{head}.{kind}" in state}
    return named
