"""A tiny cross-encoder for tests: its logit counts the words that a passage shares with a query."""

import json
from pathlib import Path

import onnx
from onnx import TensorProto, helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = ["switch", "reset", "button", "ports", "warranty", "lunch", "the", "is", "端口"]
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def write(folder: Path, *, classes: int = 1, max_length: int = 64, weights: tuple[float, ...] = ()) -> Path:
    """Write model and tokenizer into a folder and return it.

    The logit is twice the pairs of equal words, less 1; with `weights` so many times them for each class.
    """
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(_model(weights or (2.0,) * classes), folder / "model.onnx")
    _tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": max_length, "pad_token": "[PAD]"}))
    (folder / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]", "sep_token": "[SEP]"}))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    return folder


def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(_SPECIAL + WORDS)}, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


def _model(weights: tuple[float, ...]) -> onnx.ModelProto:
    """Return a graph that compares each word of the first segment with each of the second, special tokens left out."""
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])
    types = helper.make_tensor_value_info("token_type_ids", TensorProto.INT64, ["batch", "length"])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", len(weights)])
    nodes = [
        helper.make_node("Greater", ["input_ids", "last_special"], ["word"]),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.BOOL),
        helper.make_node("Not", ["second"], ["first"]),
        helper.make_node("And", ["word", "first"], ["asked"]),
        helper.make_node("And", ["word", "second"], ["compared"]),
        helper.make_node("Unsqueeze", ["input_ids", "axis_2"], ["rows"]),
        helper.make_node("Unsqueeze", ["input_ids", "axis_1"], ["columns"]),
        helper.make_node("Equal", ["rows", "columns"], ["equal"]),
        helper.make_node("Unsqueeze", ["asked", "axis_2"], ["asked_rows"]),
        helper.make_node("Unsqueeze", ["compared", "axis_1"], ["compared_columns"]),
        helper.make_node("And", ["asked_rows", "compared_columns"], ["across"]),
        helper.make_node("And", ["equal", "across"], ["shared"]),
        helper.make_node("Cast", ["shared"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["numbers", "both"], ["count"], keepdims=0),
        helper.make_node("Unsqueeze", ["count", "axis_1"], ["counts"]),
        helper.make_node("Mul", ["counts", "two"], ["doubled"]),
        helper.make_node("Sub", ["doubled", "one"], ["logits"]),
    ]
    constants = [
        helper.make_tensor("last_special", TensorProto.INT64, [], [len(_SPECIAL) - 1]),
        helper.make_tensor("axis_1", TensorProto.INT64, [1], [1]),
        helper.make_tensor("axis_2", TensorProto.INT64, [1], [2]),
        helper.make_tensor("both", TensorProto.INT64, [2], [1, 2]),
        helper.make_tensor("two", TensorProto.FLOAT, [1, len(weights)], weights),
        helper.make_tensor("one", TensorProto.FLOAT, [], [1.0]),
    ]
    graph = helper.make_graph(nodes, "counts_shared_words", [ids, types], [logits], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
