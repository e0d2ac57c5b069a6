"""Train the reader, on a GPU or on two cores.

    python -m tools.models.reader.train --start retrieval/bundled/reader/model.onnx --output trained --layers 2

With `--layers N` only the last N layers and the heads are trained: the states after the lower layers are computed once
and stored on disk, so that a step costs a few layers instead of all. An interrupted run continues from its last saved
state when the same command is run again. Training from an encoder without heads (`e5-small-q4.bin`, or the bundled
embedding model) needs all layers, a GPU and the public sources; see README.md.
"""

import argparse
import hashlib
import random
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.utils
import onnxruntime
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from tools.models.reader.authored import read
from tools.models.reader.data import ANSWERED, Group, authored_groups
from tools.models.reader.model import Reader, build, named_of
from tools.models.reader.pairs import Pair, load_tokenizer, padded, pairs_of
from tools.models.reader.reading import bundled_embedding
from tools.models.reader.weights import BUNDLED, LAYERS, WIDTH, load

DATA = Path(__file__).resolve().parents[1] / "data"
# Weights of the parts of the loss, relative to that of the label.
RANK, PLACES, WITHIN = 0.3, 0.5, 0.3
_NO_PLACE = -1e4
Unit = list[Pair]


def main() -> None:
    """Run training from the command line."""
    parser = _parser()
    options = parser.parse_args()
    options.lower = options.lower or (options.start if options.start.suffix == ".onnx" else BUNDLED / "model.onnx")
    if options.layers < LAYERS and options.lower.suffix != ".onnx":
        parser.error("The layers that aren't trained need a model.onnx; set it with --lower.")
    torch.set_num_threads(options.threads)
    groups = _groups(options)
    tokenizer = load_tokenizer(BUNDLED / "tokenizer.json")
    units = [(pairs_of(group, tokenizer), group.supports) for group in groups]
    _say(f"{len(units)} questions, {sum(len(unit) for unit, _ in units)} pairs")
    options.output.mkdir(parents=True, exist_ok=True)
    for seed in options.seeds:
        _train(options, units, seed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", type=Path, default=BUNDLED / "model.onnx", help="initial weights")
    parser.add_argument(
        "--lower", type=Path, help="model.onnx with the fixed lower layers (default: START, or the bundled one)"
    )
    parser.add_argument("--output", type=Path, required=True, help="folder for weights and states")
    parser.add_argument("--authored", type=Path, nargs="*", default=[], help="files in the authored format")
    parser.add_argument("--answered-only", type=Path, nargs="*", default=[], help="the same, without near questions")
    parser.add_argument("--public", type=Path, nargs="*", default=[], help="groups written by public.py")
    parser.add_argument("--copies", type=int, default=1, help="number of variants of each authored question")
    parser.add_argument("--supports", action="store_true", help="also learn claims, with a separate head")
    parser.add_argument("--questions", type=int, help="number of questions to use")
    parser.add_argument("--layers", type=int, default=LAYERS, help="number of last layers to train")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--epochs", type=float, default=1.5)
    parser.add_argument("--tokens", type=int, default=40_000, help="padded tokens per batch")
    parser.add_argument("--rate", type=float, default=8e-5, help="learning rate; four times as much for new heads")
    parser.add_argument("--drop", type=float, default=0.1, help="dropout; 0 saves a tenth of the time")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--save-minutes", type=float, default=3)
    return parser


def _groups(options: argparse.Namespace) -> list[Group]:
    """Return the questions to train on, the same for all seeds, since the stored states belong to them."""
    draw: dict[str, Any] = {"copies": options.copies, "claims": options.supports}
    embed = bundled_embedding(options.threads)
    groups = authored_groups(read(*options.authored), 1, embed, **draw)
    groups += authored_groups(read(*options.answered_only), 1, embed, near=False, **draw)
    if options.public:
        from tools.models.reader.public import read_groups

        groups += read_groups(*options.public)
    random.Random(1).shuffle(groups)
    return groups[: options.questions]


def _train(options: argparse.Namespace, units: Sequence[tuple[Unit, bool]], seed: int) -> None:
    """Train with one seed and write its weights, unless they exist already."""
    target = options.output / f"seed-{seed}.npz"
    if target.exists():
        return
    torch.manual_seed(seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    weights = load(options.start)
    net = build(weights, supports=options.supports, drop=options.drop).to(device).train()
    below = LAYERS - options.layers
    states = _States(options, [pair for unit, _ in units for pair in unit], below) if below else None
    optimiser = _optimiser(net, below, options.rate, new_heads=not weights.has_heads)
    batches = list(_batches(units, options.tokens, options.epochs, seed))
    step = _resume(options.output / f"seed-{seed}.state", net, optimiser)
    rates = [group["initial"] for group in optimiser.param_groups]
    # Emulating bfloat16 on a processor without support for it takes five times as long.
    half = device == "cuda" or any(torch.cpu.get_capabilities().get(f"{kind}_bf16") for kind in ("avx512", "amx"))
    begun = saved = time.monotonic()
    sums = np.zeros(5)
    trained = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    while step < len(batches):
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * _pace(step / len(batches))
        chosen, supports = batches[step]
        with torch.autocast(device, dtype=torch.bfloat16, enabled=half):
            outputs, mask = _run(net, [units[i][0] for i in chosen], states, below, device)
        parts = _losses(outputs, [units[i][0] for i in chosen], mask, supports=supports)
        loss = parts[0] + RANK * parts[1] + PLACES * parts[2] + WITHIN * parts[3]
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        step += 1
        sums += [*(float(part.detach()) for part in parts), 1]
        if step % 50 == 0 or step == len(batches):
            label, rank, places, within = sums[:4] / sums[4]
            spent = time.monotonic() - begun
            _say(
                f"seed {seed} step {step}/{len(batches)} {spent:.0f} s: "
                f"label {label:.3f} rank {rank:.3f} places {places:.3f} within {within:.3f}"
            )
            sums[:] = 0
        if time.monotonic() - saved > 60 * options.save_minutes:
            _save(options.output / f"seed-{seed}.state", net, optimiser, step)
            saved = time.monotonic()
    np.savez(target, allow_pickle=False, **named_of(net))
    (options.output / f"seed-{seed}.state").unlink(missing_ok=True)
    _say(f"wrote {target}")


class _States:
    """The states of each pair after the lower layers, in 16 bits on disk: 768 bytes per token."""

    def __init__(self, options: argparse.Namespace, pairs: Sequence[Pair], below: int) -> None:
        ends = np.cumsum([len(pair.ids) for pair in pairs])
        self._places = {id(pair): (int(end) - len(pair.ids), int(end)) for pair, end in zip(pairs, ends, strict=True)}
        path = options.output / f"states-{self._key(options, pairs, below)}.npy"
        if not path.exists():
            self._compute(options, pairs, below, path)
        self._kept: NDArray[np.float16] = np.load(path, mmap_mode="r")

    def _key(self, options: argparse.Namespace, pairs: Sequence[Pair], below: int) -> str:
        digest = hashlib.sha256(f"{below} {options.lower.stat().st_size}".encode() + options.lower.read_bytes())
        for pair in pairs:
            digest.update(pair.ids.tobytes() + b"/")
        return digest.hexdigest()[:16]

    def _compute(self, options: argparse.Namespace, pairs: Sequence[Pair], below: int, path: Path) -> None:
        begun = time.monotonic()
        partly = path.with_suffix(".part")
        total = sum(len(pair.ids) for pair in pairs)
        kept = np.lib.format.open_memmap(partly, "w+", np.float16, (total, WIDTH))
        session = _lower_layers(options.lower, below)

        def compute(pair: Pair) -> None:
            ids = pair.ids[None].astype(np.int64)
            (states,) = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
            start, end = self._places[id(pair)]
            kept[start:end] = states[0]

        with ThreadPoolExecutor(options.threads) as pool:
            list(pool.map(compute, pairs))
        kept.flush()
        partly.rename(path)
        _say(f"{total} tokens through {below} layers in {time.monotonic() - begun:.0f} s")

    def of(self, pairs: Sequence[Pair], longest: int) -> NDArray[np.float32]:
        """Return the states of pairs, padded to [pairs, tokens, width]."""
        found = np.zeros((len(pairs), longest, WIDTH), np.float32)
        for row, pair in enumerate(pairs):
            start, end = self._places[id(pair)]
            found[row, : end - start] = self._kept[start:end]
        return found


def _lower_layers(path: Path, below: int) -> onnxruntime.InferenceSession:
    """Return a session of a model's first layers, in 8 bits as on the site, for one pair at a time."""
    model = onnx.load(path)
    # The bundled file has shorter names from an older version of this program.
    norm = {f"l{below - 1}.oln.w", f"l{below - 1}.n2w"}
    last = next(node for node in model.graph.node if norm & set(node.input)).output[0]
    shape: list[str | int | None] = ["batch", "length", WIDTH]
    model.graph.value_info.append(onnx.helper.make_tensor_value_info(last, onnx.TensorProto.FLOAT, shape))
    cut = onnx.utils.Extractor(model).extract_model([each.name for each in model.graph.input], [last])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(cut.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _optimiser(net: Reader, below: int, rate: float, *, new_heads: bool) -> torch.optim.Optimizer:
    """Return an optimiser of the trained parameters, without weight decay for biases and norms."""
    heads = ("pool", "answers", "rank", "span", "evidence", "supports")
    layers = [f"layers.{i}." for i in range(below, LAYERS)] + ([] if below else ["places", "norm"])
    chosen: dict[tuple[float, float], list[torch.nn.Parameter]] = {}
    for name, parameter in net.named_parameters():
        is_head = name.split(".")[0] in heads
        parameter.requires_grad_(is_head or (name != "words.weight" and name.startswith(tuple(layers))))
        if parameter.requires_grad:
            own = rate * 4 if is_head and new_heads else rate
            chosen.setdefault((own, 0.01 if parameter.dim() > 1 else 0.0), []).append(parameter)
    groups = [
        {"params": found, "lr": own, "initial": own, "weight_decay": decay} for (own, decay), found in chosen.items()
    ]
    return torch.optim.AdamW(groups, betas=(0.9, 0.98))


def _pace(done: float) -> float:
    """Return the factor of the learning rate after the share `done` of training: up for 6 %, then down."""
    return min(1.0, done / 0.06 + 0.02, (1 - done) / 0.94 + 0.02)


def _batches(
    units: Sequence[tuple[Unit, bool]], tokens: int, epochs: float, seed: int
) -> Iterator[tuple[list[int], bool]]:
    """Yield the indexes of each batch's questions, of one kind and similar length; batches are in random order."""
    draw = random.Random(seed)
    whole, rest = divmod(epochs, 1)
    for share in [1.0] * int(whole) + ([rest] if rest else []):
        order = draw.sample(range(len(units)), round(len(units) * share))
        found: list[tuple[list[int], bool]] = []
        for supports in (False, True):
            own = [i for i in order if units[i][1] == supports]
            # Sort by length within some thousands, so that the batches differ between epochs.
            for first in range(0, len(own), 6_000):
                some = sorted(own[first : first + 6_000], key=lambda i: max(len(pair.ids) for pair in units[i][0]))
                found += [(batch, supports) for batch in _filled(units, some, tokens)]
        draw.shuffle(found)
        yield from found


def _filled(units: Sequence[tuple[Unit, bool]], order: Sequence[int], tokens: int) -> Iterator[list[int]]:
    batch: list[int] = []
    longest = count = 0
    for i in order:
        pairs = units[i][0]
        longest, count = max(longest, *(len(pair.ids) for pair in pairs)), count + len(pairs)
        if batch and longest * count > tokens:
            yield batch
            batch, longest, count = [], max(len(pair.ids) for pair in pairs), len(pairs)
        batch.append(i)
    if batch:
        yield batch


def _run(
    net: Reader, units: Sequence[Unit], states: _States | None, below: int, device: str
) -> tuple[dict[str, Tensor], Tensor]:
    pairs = [pair for unit in units for pair in unit]
    ids, there = padded(pairs)
    mask = torch.from_numpy(there).to(device)
    if states is None:
        return net(torch.from_numpy(ids).to(device), mask), mask
    return net.upper(torch.from_numpy(states.of(pairs, ids.shape[1])).to(device), mask, below), mask


def _losses(outputs: dict[str, Tensor], units: Sequence[Unit], mask: Tensor, *, supports: bool) -> list[Tensor]:
    """Return the losses of labels, of ranks within a question, of places, and of log odds within a question."""
    device = mask.device
    pairs = [pair for unit in units for pair in unit]
    labels = torch.tensor([pair.label for pair in pairs], device=device)
    if supports:
        by_label = F.cross_entropy(outputs["supports"].float(), labels)
        none = by_label * 0
        return [by_label, none, none, none]
    owner = torch.tensor([i for i, unit in enumerate(units) for _ in unit], device=device)
    answers = outputs["answers"].float()
    otherwise = torch.logsumexp(answers[:, :2], 1)
    odds = answers[:, 2] - otherwise
    of_label = torch.cat([answers, otherwise[:, None]], 1).gather(1, labels[:, None])[:, 0]
    by_label = (torch.logsumexp(answers, 1) - of_label).mean()
    none = by_label * 0
    places = torch.tensor([pair.places for pair in pairs], device=device)
    logits = torch.cat([outputs["span"], outputs["evidence"]], 2).float().masked_fill(~mask[:, :, None], _NO_PLACE)
    by_place = none
    for column in range(4):
        if bool((places[:, column] >= 0).any()):
            by_place = by_place + F.cross_entropy(logits[:, :, column], places[:, column], ignore_index=-1) / 4
    answered = labels == ANSWERED
    return [
        by_label,
        _within(outputs["rank"].float(), owner, answered, len(units)),
        by_place,
        _within(odds, owner, answered, len(units)),
    ]


def _within(scores: Tensor, owner: Tensor, wanted: Tensor, questions: int) -> Tensor:
    """Return the contrastive loss of the scores of answering passages.

    Each is compared with the passages of its question that don't answer, but not with others that do.
    """
    if not bool(wanted.any()):
        return scores.sum() * 0
    rest, theirs = scores[~wanted], owner[~wanted]
    greatest = scores.new_full((questions,), _NO_PLACE).scatter_reduce(0, theirs, rest.detach(), "amax")
    total = scores.new_zeros(questions).scatter_add(0, theirs, (rest - greatest[theirs]).exp())
    # If all passages of a question answer it, there is nothing to compare.
    others = torch.where(total > 0, total.clamp_min(1e-30).log() + greatest, greatest)
    own = scores[wanted]
    return (torch.logaddexp(own, others[owner[wanted]]) - own).mean()


def _save(path: Path, net: Reader, optimiser: torch.optim.Optimizer, step: int) -> None:
    """Save the state atomically, so that an interruption leaves the previous one."""
    state = {name: tensor for name, tensor in net.state_dict().items() if name != "words.weight"}
    partly = path.with_suffix(".part")
    torch.save(
        {"net": state, "optimiser": optimiser.state_dict(), "step": step, "random": torch.get_rng_state()}, partly
    )
    partly.rename(path)


def _resume(path: Path, net: Reader, optimiser: torch.optim.Optimizer) -> int:
    """Load the last saved state and return its step, or 0 if there is none."""
    if not path.exists():
        return 0
    state = torch.load(path, map_location=next(net.parameters()).device)
    net.load_state_dict(state["net"], strict=False)
    optimiser.load_state_dict(state["optimiser"])
    torch.set_rng_state(state["random"].cpu())
    _say(f"resuming after step {state['step']}")
    return int(state["step"])


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
