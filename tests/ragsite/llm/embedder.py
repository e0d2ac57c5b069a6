"""A tiny embedding model for tests: its vectors show which of a few words a text contains."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = ("switch", "nine", "ports", "lunch", "noon", "cat", "dog", "the", "is")


def write(folder: Path, *, dimension: int = 16, words: Sequence[str] = WORDS, stated: int | None = None) -> Path:
    """Write model, tokenizer and description into a folder and return it.

    Words that mean the same are written as one: `cat|feline`. `stated` is a wrong dimension for its configuration.
    """
    folder.mkdir(parents=True, exist_ok=True)
    groups = [word.split("|") for word in words]
    vocabulary = {
        word: number for number, word in enumerate([*_SPECIAL, *(word for group in groups for word in group)])
    }
    table = np.random.default_rng(7).normal(size=(len(vocabulary), dimension)).astype(np.float32)
    table[vocabulary["[UNK]"]] *= 0.1
    for first, *others in groups:
        table[[vocabulary[word] for word in others]] = table[vocabulary[first]]
    ids, mask = (
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask")
    )
    out = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "length", dimension])
    node = helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    graph = helper.make_graph([node], "words", [ids, mask], [out], [numpy_helper.from_array(table, "table")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "model.onnx")
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 64, "pad_token": "[PAD]"}))
    (folder / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]", "unk_token": "[UNK]"}))
    (folder / "config.json").write_text(json.dumps({"hidden_size": stated or dimension, "pad_token_id": 0}))
    (folder / "README.md").write_text("---\nlicense: mit\nlanguage: en\n---\n# Words\n")
    return folder
