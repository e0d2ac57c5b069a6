"""Build the ONNX graph of both bundled models' encoder from its weights, without torch.

It uses standard operators of opset 18 and ONNX Runtime's own (com.microsoft): MultiHeadAttention,
SkipLayerNormalization, Gelu and DynamicQuantizeMatMul. The order of nodes and constants affects the file's checksum: a
change here makes `embedding/convert.py --check` fail.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from tools.models import blocks

# Weights under the names of Hugging Face's BertModel.
Weights = Mapping[str, NDArray[Any]]
# The word embeddings in 4 bits: scales, and weights of 0-15.
Table = tuple[NDArray[np.float16], NDArray[np.uint8]]
POSITIONS, TYPES = "embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight"
EPSILON = 1e-12
_MICROSOFT = "com.microsoft"


class Graph:
    """Nodes and constants in insertion order."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def const(self, name: str, array: NDArray[Any]) -> str:
        """Add a constant and return its name."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def number(self, name: str, value: int) -> str:
        """Add a constant list of one integer, the format of axes and positions."""
        return self.const(name, np.array([value], np.int64))

    def op(self, kind: str, inputs: Sequence[str], domain: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        return self.ops(kind, inputs, 1, domain, **attributes)[0]

    def ops(self, kind: str, inputs: Sequence[str], outputs: int, domain: str = "", **attributes: Any) -> list[str]:
        """Add a node and return the names of its outputs."""
        number = len(self.nodes) + 1
        names = [f"{kind}_{number}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, f"{kind}_{number}", domain=domain, **attributes))
        return names

    def save(self, path: Path, name: str, outputs: Mapping[str, tuple[str, list[str | int]]]) -> None:
        """Write the model; `outputs` maps names of outputs to their nodes and shapes."""
        for output, (source, _) in outputs.items():
            self.nodes.append(helper.make_node("Identity", [source], [output]))
        tokens = "length" if len(outputs) > 1 else "tokens"
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", tokens])
            for name in ("input_ids", "attention_mask")
        ]
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, (_, shape) in outputs.items()]
        graph = helper.make_graph(self.nodes, name, inputs, infos, self.constants)
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(_MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="ragsite")
        model.ir_version = 9
        onnx.save(model, path)


def encoder(graph: Graph, weights: Weights, table: Table, layers: int, heads: int, matrices: str = "int8") -> str:
    """Add the encoder and return the name of its last hidden state [batch, tokens, width].

    `matrices` is `int8`, with dynamically quantised activations, or `float`, for comparison.
    """
    x = _embeddings(graph, weights, table)
    mask = graph.op("Cast", ["attention_mask"], to=TensorProto.INT32)

    def dense(x: str, name: str, weight: NDArray[Any], bias: NDArray[Any]) -> str:
        return _dense(graph, x, name, weight, bias, matrices)

    def add_and_norm(x: str, rest: str, name: str, source: str) -> str:
        constants = [graph.const(f"{name}.{short}", weights[f"{source}.{long}"]) for short, long in _NORM]
        return graph.op("SkipLayerNormalization", [x, rest, *constants], domain=_MICROSOFT, epsilon=EPSILON)

    for i in range(layers):
        layer = f"encoder.layer.{i}."
        parts = [layer + f"attention.self.{part}" for part in ("query", "key", "value")]
        joined = [np.concatenate([weights[f"{part}.{kind}"] for part in parts]) for kind in ("weight", "bias")]
        q, k, v = graph.ops("Split", [dense(x, f"l{i}.qkv", *joined)], 3, axis=-1, num_outputs=3)
        attended = graph.op("MultiHeadAttention", [q, k, v, "", mask], domain=_MICROSOFT, num_heads=heads)
        attended = dense(attended, f"l{i}.ao", *_linear(weights, layer + "attention.output.dense"))
        x = add_and_norm(attended, x, f"l{i}.aln", layer + "attention.output.LayerNorm")
        inner = dense(x, f"l{i}.fi", *_linear(weights, layer + "intermediate.dense"))
        inner = graph.op("Gelu", [inner], domain=_MICROSOFT)
        inner = dense(inner, f"l{i}.fo", *_linear(weights, layer + "output.dense"))
        x = add_and_norm(inner, x, f"l{i}.oln", layer + "output.LayerNorm")
    return x


_NORM = (("w", "weight"), ("b", "bias"))


def _linear(weights: Weights, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]


def _embeddings(graph: Graph, weights: Weights, table: Table) -> str:
    """Add the sum of word embeddings, unpacked from blocks by standard operators, and position embeddings."""
    scales, nibbles = table
    packed = graph.op("Gather", [graph.const("words.q", blocks.halves(nibbles)), "input_ids"])
    low = graph.op("BitwiseAnd", [packed, graph.const("fifteen", np.array(15, np.uint8))])
    high = graph.op("BitShift", [packed, graph.const("four", np.array(4, np.uint8))], direction="RIGHT")
    both = graph.op("Cast", [graph.op("Concat", [low, high], axis=-1)], to=TensorProto.FLOAT)
    scale = graph.op("Gather", [graph.const("words.s", scales.astype(np.float16)[:, :, None]), "input_ids"])
    scale = graph.op("Cast", [scale], to=TensorProto.FLOAT)
    centred = graph.op("Sub", [both, graph.const("eight", np.array(8, np.float32))])
    scaled = graph.op("Mul", [centred, scale])
    words = graph.op("Reshape", [scaled, graph.const("flat", np.array([0, 0, -1], np.int64))])
    # All tokens have the first type.
    places = (weights[POSITIONS] + weights[TYPES][:1]).astype(np.float32)
    length = graph.op("Slice", [graph.op("Shape", ["input_ids"]), graph.number("one", 1), graph.number("two", 2)])
    first = [graph.const("places", places), graph.number("zero", 0), length, graph.number("axis0", 0)]
    place = graph.op("Slice", first)
    norm = [graph.const(f"eln.{short}", weights[f"embeddings.LayerNorm.{long}"]) for short, long in _NORM]
    summed = graph.op("Add", [words, place])
    return graph.op("LayerNormalization", [summed, *norm], epsilon=EPSILON, axis=-1)


def _dense(graph: Graph, x: str, name: str, weight: NDArray[Any], bias: NDArray[Any], matrices: str) -> str:
    """Add x · weightᵀ + bias; weight is [out, in]."""
    if matrices == "float":
        product = graph.op("MatMul", [x, graph.const(f"{name}.w", weight.T.astype(np.float32))])
        return graph.op("Add", [product, graph.const(f"{name}.b", bias)])
    integers, scales = blocks.int8_columns(weight.T)
    constants: dict[str, NDArray[Any]] = {"q": integers, "s": scales, "z": np.zeros(len(weight), np.int8), "b": bias}
    named = [graph.const(f"{name}.{kind}", array) for kind, array in constants.items()]
    return graph.op("DynamicQuantizeMatMul", [x, *named], domain=_MICROSOFT)
