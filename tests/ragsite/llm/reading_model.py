"""A tiny reader for tests: some words of a pair have weights, wherever they are."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

_SPECIAL = ["[CLS]", "[PAD]", "[SEP]", "[UNK]"]
# The output of the first token, which means "no place".
NONE = 1.0


def write(folder: Path, weights: Mapping[str, float], *, max_length: int = 384, calibration: object = None) -> Path:
    """Write model, tokenizer and description into a folder and return it.

    A pair's rank and its logit of "answered" are the sums of its words' weights, the other two logits are 0; a word's
    weight is the logit of its being the start, and that of its being the end.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: number for number, word in enumerate([*_SPECIAL, *(f"▁{word}" for word in weights)])}
    table = np.zeros(len(vocabulary), np.float32)
    table[len(_SPECIAL) :] = list(weights.values())
    places = np.stack([table, table], 1)
    places[0] = NONE / 2
    onnx.save(_model(table, places), folder / "model.onnx")
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    # As in the bundled one, the space before a word is part of it.
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(), pre_tokenizers.Punctuation()])
    tokenizer.save(str(folder / "tokenizer.json"))
    outputs = dict.fromkeys(("answers", "rank", "span", "evidence"), "")
    (folder / "config.json").write_text(json.dumps({"outputs": outputs, "max_length": max_length}))
    if calibration is not None:
        (folder / "calibration.json").write_text(json.dumps({"reader": calibration}))
    return folder


def _model(table: NDArray[np.float32], places: NDArray[np.float32]) -> onnx.ModelProto:
    ids, mask = (
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask")
    )
    shapes: dict[str, list[int | str | None]] = {
        "answers": ["batch", 3],
        "rank": ["batch"],
        "span": ["batch", "length", 2],
        "evidence": ["batch", "length", 2],
    }
    tables = {"classes": np.stack([0 * table, 0 * table, table], 1), "weights": table, "places": places}
    one = numpy_helper.from_array(np.array([1]), "one")
    nodes = [
        helper.make_node("Gather", ["classes", "input_ids"], ["classed"]),
        helper.make_node("ReduceSum", ["classed", "one"], ["answers"], keepdims=0),
        helper.make_node("Gather", ["weights", "input_ids"], ["weighed"]),
        helper.make_node("ReduceSum", ["weighed", "one"], ["rank"], keepdims=0),
        helper.make_node("Gather", ["places", "input_ids"], ["span"]),
        helper.make_node("Gather", ["places", "input_ids"], ["evidence"]),
    ]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    constants = [one, *(numpy_helper.from_array(value, name) for name, value in tables.items())]
    graph = helper.make_graph(nodes, "weighs_words", [ids, mask], outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
