"""Export a reader to an ONNX file like the bundled one, without torch.

    python -m tools.models.reader.export trained/seed-1.npz retrieval/bundled/reader OUTPUT

The second argument is the folder from which word embeddings and descriptions are copied.
"""

import argparse
import hashlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from tools.models.onnx_graph import Graph, encoder
from tools.models.reader.weights import HEAD_OUTPUTS, HEADS, LAYERS, ReaderWeights, load


def write(weights: ReaderWeights, path: Path, matrices: str = "int8") -> None:
    """Write the ONNX file, including the `supports` head if there is one."""
    named = weights.named
    graph = Graph()
    x = encoder(graph, named, weights.table, LAYERS, HEADS, matrices)
    mask = graph.op("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    mask = graph.op("Unsqueeze", [mask, graph.number("two_", 2)])
    along = graph.number("ax1", 1)
    total = graph.op("ReduceSum", [graph.op("Mul", [x, mask]), along], keepdims=0)
    mean = graph.op("Div", [total, graph.op("ReduceSum", [mask, along], keepdims=0)])
    first = graph.op("Gather", [x, graph.number("first", 0)], axis=1)
    first = graph.op("Squeeze", [first, graph.number("ax1c", 1)])
    pool = graph.const("pool.w", named["pool.weight"].T.astype(np.float16))
    pooled = graph.op("MatMul", [graph.op("Concat", [first, mean], axis=-1), graph.op("Cast", [pool], to=1)])
    pooled = graph.op("Tanh", [graph.op("Add", [pooled, graph.const("pool.b", named["pool.bias"])])])

    def head(name: str, source: str) -> str:
        weight: NDArray[Any] = named[f"{name}.weight"].T.astype(np.float32)
        product = graph.op("MatMul", [source, graph.const(f"{name}.w", weight)])
        return graph.op("Add", [product, graph.const(f"{name}.b", named[f"{name}.bias"])])

    outputs: dict[str, tuple[str, list[str | int]]] = {"answers": (head("answers", pooled), ["batch", 3])}
    if "supports.weight" in named:
        outputs["supports"] = head("supports", pooled), ["batch", 3]
    ranked = graph.op("Squeeze", [head("rank", pooled), graph.number("ax1_", 1)])
    outputs["rank"] = ranked, ["batch"]
    for name in ("span", "evidence"):
        outputs[name] = head(name, x), ["batch", "length", HEAD_OUTPUTS[name]]
    graph.save(path, "reader", outputs)


def export(trained: Path, base: Path, output: Path, matrices: str = "int8", share: float = 1.0) -> None:
    """Write a folder like the bundled reader's from trained weights (`.npz`) and the folder with the initial weights.

    With a `share` below 1, the weights are interpolated between the initial and the trained ones, which preserves what
    the initial model knew (Wortsman et al., "Robust fine-tuning of zero-shot models", CVPR 2022).
    """
    before = load(base / "model.onnx")
    named = load(trained).named
    if share < 1:
        # New heads have no initial weights.
        mixed = named.keys() & before.named.keys()
        named |= {name: share * named[name] + (1 - share) * before.named[name] for name in mixed}
    output.mkdir(parents=True, exist_ok=True)
    write(ReaderWeights(before.table, named), output / "model.onnx", matrices)
    for name in ("config.json", "tokenizer.json", "calibration.json", "LICENSE", "README.md"):
        if (base / name).exists():
            shutil.copyfile(base / name, output / name)
    files = ("config.json", "model.onnx", "tokenizer.json")
    sums = [f"{hashlib.sha256((output / name).read_bytes()).hexdigest()}  {name}\n" for name in files]
    (output / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")


def main() -> None:
    """Run the export from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trained", type=Path, help="file written by train.py")
    parser.add_argument("base", type=Path, help="a folder like retrieval/bundled/reader")
    parser.add_argument("output", type=Path)
    parser.add_argument(
        "--share", type=float, default=1.0, help="weight of the trained weights; the rest is the base's"
    )
    parser.add_argument("--matrices", choices=("int8", "float"), default="int8")
    options = parser.parse_args()
    export(options.trained, options.base, options.output, options.matrices, options.share)


if __name__ == "__main__":
    main()
