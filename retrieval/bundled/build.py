"""Rebuild the bundled embedding model from its published weights.

    python retrieval/bundled/build.py CHECKPOINT OUTPUT

CHECKPOINT is a folder with the published files of sentence-transformers/all-MiniLM-L6-v2 (`model.safetensors`,
`config.json`, `tokenizer.json`, `tokenizer_config.json`, `special_tokens_map.json`); OUTPUT a folder that will hold the
model as it is bundled. The tools are for building alone and no part of the site's requirements:

    pip install torch transformers safetensors onnx onnxruntime

The weights are checked by their SHA-256, exported with opset 17, and quantised dynamically (QInt8): 23 MB instead of
90, and 2.2 times the throughput. Other versions of the tools may write other bytes of the same model; then the script
says how far its vectors are from those of the full weights, and SHA256SUMS is to be renewed.
"""

import argparse
import hashlib
import importlib
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
OPSET = 17
COPIED = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
# Cosine of a quantised vector with its original, at least: below, something else than rounding went wrong.
CLOSE = 0.97
_SENTENCES = ("How do I reset my password?", "The mitochondrion is the powerhouse of the cell.", "Rain is likely.")


class WrongWeights(Exception):
    """The weights are not the published ones."""


def main(arguments: Sequence[str]) -> int:
    """Build as told by the command line and return the exit status."""
    parser = argparse.ArgumentParser(description="Rebuild the bundled embedding model from its published weights.")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("output", type=Path)
    options = parser.parse_args(arguments)
    try:
        check_weights(options.checkpoint / "model.safetensors")
    except (OSError, WrongWeights) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    closeness = build(options.checkpoint, options.output)
    sys.stdout.write(f"{options.output / 'model.onnx'}: {sha256_of(options.output / 'model.onnx')}\n")
    sys.stdout.write(f"Cosine with the vectors of the full weights: at least {closeness:.4f}\n")
    return 0 if closeness >= CLOSE else 1


def sha256_of(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_weights(path: Path) -> None:
    """Raise `WrongWeights` unless the file holds the published weights."""
    found = sha256_of(path)
    if found != WEIGHTS_SHA256:
        raise WrongWeights(f"{path} has SHA-256 {found}; the published weights have {WEIGHTS_SHA256}.")


def build(checkpoint: Path, output: Path) -> float:
    """Write the model's files and return the least cosine of their vectors with those of the full weights."""
    transformers = importlib.import_module("transformers")
    quantization = importlib.import_module("onnxruntime.quantization")
    model = transformers.AutoModel.from_pretrained(checkpoint, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint)
    encoded = tokenizer(list(_SENTENCES), padding=True, return_tensors="pt")
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        full = Path(folder) / "model.onnx"
        _export(model, encoded, full)
        quantization.quantize_dynamic(full, output / "model.onnx", weight_type=quantization.QuantType.QInt8)
    for name in COPIED:
        shutil.copyfile(checkpoint / name, output / name)
    return _closeness(model, encoded, output / "model.onnx")


def _export(model: Any, encoded: Any, path: Path) -> None:
    torch = importlib.import_module("torch")

    class LastHiddenState(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            found = self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
            return found.last_hidden_state

    with torch.no_grad():
        torch.onnx.export(
            LastHiddenState(),
            tuple(encoded[name] for name in INPUTS),
            str(path),
            input_names=list(INPUTS),
            output_names=["last_hidden_state"],
            dynamic_axes={name: {0: "b", 1: "s"} for name in (*INPUTS, "last_hidden_state")},
            opset_version=OPSET,
            dynamo=False,
        )


def _closeness(model: Any, encoded: Any, path: Path) -> float:
    torch = importlib.import_module("torch")
    runtime = importlib.import_module("onnxruntime")
    mask = encoded["attention_mask"].unsqueeze(-1)

    def pooled(hidden: Any) -> Any:
        return torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=1)

    with torch.no_grad():
        wanted = pooled(model(**{name: encoded[name] for name in INPUTS}).last_hidden_state)
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (hidden,) = session.run(None, {name: encoded[name].numpy() for name in INPUTS})
    return float((wanted * pooled(torch.from_numpy(hidden))).sum(1).min())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
