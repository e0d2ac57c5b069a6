"""The programs that build the bundled models, as far as they need no torch, and their data."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from tests.site import ROOT
from tools.models import blocks
from tools.models.embedding.vocabulary import SPECIAL, format_ranges, kept_pieces, parse_ranges, tokenizer_of
from tools.models.onnx_graph import Graph, encoder
from tools.models.reader import evaluate, metrics, public
from tools.models.reader.authored import LABELS, Passage, Question, faults, passage_of, read, runs
from tools.models.reader.collect import DATA, held, measured_runs, why_not
from tools.models.reader.data import ANSWERED, NEAR, NOT_ANSWERED, Group, Item, authored_groups
from tools.models.reader.export import export, write
from tools.models.reader.pairs import MAX_TOKENS, UNKNOWN, join, load_tokenizer, pairs_of
from tools.models.reader.reading import Reading
from tools.models.reader.search import Search
from tools.models.reader.texts import BM25, sentences, without, words
from tools.models.reader.weights import HEAD_OUTPUTS, LAYERS, WIDTH, ReaderWeights, load

BUNDLED = ROOT / "retrieval" / "bundled"
TOKENIZER = BUNDLED / "multilingual-e5-small-int8" / "tokenizer.json"
SHIPPED = sorted(DATA.glob("*.jsonl*"))
# Two passages; the second sentence of the first is an answer.
LAMP = (
    "The lamp on the pier was lit in 1871. It burns oil from Bergen. A keeper trims it twice a night. He sleeps by day."
)
DOG = "Dogs may come along on the ferry when they are kept on a lead. They travel free of charge below deck."


# --- Weights in few bits --------------------------------------------------------------------------


def test_blocks_come_back_as_they_were_stored() -> None:
    draw = np.random.default_rng(1)
    scales = draw.normal(size=(5, 3)).astype(np.float16)
    nibbles = draw.integers(0, 16, (5, 96), dtype=np.uint8)
    stored = blocks.pack(scales, nibbles)
    assert len(stored) == 5 * 3 * blocks.BYTES
    found = blocks.unpack(stored, 96)
    assert np.array_equal(found[0], scales) and np.array_equal(found[1], nibbles)
    assert np.array_equal(blocks.from_halves(blocks.halves(nibbles)), nibbles)


def test_a_stored_block_is_a_scale_and_low_halves_before_high_ones() -> None:
    data = np.float16(0.5).tobytes() + bytes([0x80 | i for i in range(16)])
    scales, nibbles = blocks.unpack(data, 32)
    assert nibbles.tolist() == [[*range(16), *[8] * 16]]
    assert blocks.dequantise(scales, nibbles)[0, :3].tolist() == [-4.0, -3.5, -3.0]


def test_quantising_is_idempotent() -> None:
    draw = np.random.default_rng(2)
    matrix = draw.normal(size=(4, 64)).astype(np.float32)
    once = blocks.dequantise(*blocks.quantise(matrix))
    assert np.abs(once - matrix).max() <= np.abs(matrix).max() / 8
    assert np.array_equal(blocks.dequantise(*blocks.quantise(once)), once)
    integers, scales = blocks.int8_columns(matrix)
    assert np.abs(integers).max(axis=0).tolist() == [127] * 64
    assert np.abs(integers * scales - matrix).max() <= scales.max() / 2 + 1e-6


# --- The vocabulary -------------------------------------------------------------------------------


def test_kept_pieces_are_numbered_as_in_the_bundled_tokenizer() -> None:
    kept = kept_pieces()
    model = json.loads(TOKENIZER.read_text(encoding="utf-8"))["model"]
    assert len(kept) == len(model["vocab"]) == 83_152 and kept == sorted(set(kept)) and kept[:4] == [0, 1, 2, 3]
    assert parse_ranges(format_ranges(kept)) == kept and format_ranges([0, 1, 2, 5, 7, 8]) == "0-2\n5\n7-8\n"


def test_a_tokenizer_of_the_kept_pieces_is_the_bundled_one() -> None:
    bundled = TOKENIZER.read_text(encoding="utf-8")
    pieces, scores = zip(*json.loads(bundled)["model"]["vocab"], strict=True)
    same = tokenizer_of(pieces, scores).to_str() == bundled
    assert same  # pytest would compare megabytes line by line
    with pytest.raises(ValueError, match="begins with"):
        tokenizer_of(pieces[1:], scores[1:])
    assert pieces[: len(SPECIAL)] == SPECIAL


# --- The graph ------------------------------------------------------------------------------------


def test_the_bundled_reader_comes_back_from_its_own_weights(tmp_path: Path) -> None:
    weights = load(BUNDLED / "reader" / "model.onnx")
    write(weights, tmp_path / "model.onnx")
    given = {"input_ids": np.array([[0, 500, 600, 2, 2, 70_000, 900, 2]]), "attention_mask": np.ones((1, 8), np.int64)}
    both = [
        onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, given)
        for path in (BUNDLED / "reader" / "model.onnx", tmp_path / "model.onnx")
    ]
    assert len(both[0]) == len(HEAD_OUTPUTS)
    for own, again in zip(*both, strict=True):
        np.testing.assert_allclose(own, again, atol=1e-4)


def test_an_exported_reader_can_be_interpolated_with_its_initial_weights(tmp_path: Path) -> None:
    begun = load(BUNDLED / "reader" / "model.onnx").named
    np.savez(tmp_path / "trained.npz", **(begun | {"rank.bias": begun["rank.bias"] + 2}))
    export(tmp_path / "trained.npz", BUNDLED / "reader", tmp_path / "half", share=0.5)
    found = load(tmp_path / "half" / "model.onnx").named
    np.testing.assert_allclose(found["rank.bias"], begun["rank.bias"] + 1, atol=1e-5)
    np.testing.assert_allclose(found["pool.bias"], begun["pool.bias"], atol=1e-5)


def test_an_encoder_of_one_layer_respects_the_mask(tmp_path: Path) -> None:
    weights = load(BUNDLED / "multilingual-e5-small-int8" / "model.onnx")
    assert not weights.has_heads and len(weights.named) == 4 + 16 * LAYERS
    few = ReaderWeights((weights.table[0][:50], weights.table[1][:50]), weights.named)
    graph = Graph()
    last = encoder(graph, few.named, few.table, 1, 12, "float")
    graph.save(tmp_path / "one.onnx", "encoder", {"last_hidden_state": (last, ["batch", "tokens", WIDTH])})
    session = onnxruntime.InferenceSession(tmp_path / "one.onnx", providers=["CPUExecutionProvider"])
    short = session.run(None, {"input_ids": np.array([[0, 9, 2]]), "attention_mask": np.ones((1, 3), np.int64)})[0]
    padded = {"input_ids": np.array([[0, 9, 2, 1]]), "attention_mask": np.array([[1, 1, 1, 0]])}
    np.testing.assert_allclose(session.run(None, padded)[0][:, :3], short, atol=1e-5)


# --- The data that comes with it ------------------------------------------------------------------


@pytest.fixture(scope="module")
def shipped() -> dict[str, list[Passage]]:
    return {path.name: read(path) for path in SHIPPED}


def test_shipped_passages_are_valid_and_unique(shipped: dict[str, list[Passage]]) -> None:
    every = [passage for found in shipped.values() for passage in found]
    assert len(every) > 1_000
    assert [(passage.id, fault) for passage in every for fault in faults(passage)] == []
    assert [name for name, times in Counter(p.id for p in every).items() if times > 1] == []
    assert [text for text, times in Counter(p.text for p in every).items() if times > 1] == []
    labels = Counter(question.label for passage in every for question in passage.questions)
    assert labels["answered"] > labels["near"] > labels["objectless"] > 0 and set(labels) == set(LABELS)


def test_shipped_passages_share_no_wording_with_evaluation_sets(shipped: dict[str, list[Passage]]) -> None:
    measured = measured_runs()
    assert len(measured) > 10_000
    every = [passage for found in shipped.values() for passage in found]
    assert [passage.id for passage in every if why_not(passage, set(), measured)] == []


@pytest.mark.parametrize(
    ("aside", "drawn_from"),
    [
        ("held.jsonl", "en3 en4 zh3 zh4 across3"),
        ("held-twins.jsonl", "en5 en6 en7 en8 zh5 zh6 zh7 across5 across6 across7"),
        ("held-claims.jsonl", "en9 en10 zh8 zh9 across8"),
        ("held-bases.jsonl", "base-en1 base-en2 base-en3 base-mix1 base-mix2 base-mix3 base-zh1 base-zh2"),
    ],
)
def test_held_out_passages_are_the_documented_selection(
    shipped: dict[str, list[Passage]], aside: str, drawn_from: str
) -> None:
    every = [
        passage for name in [aside, *(f"{file}.jsonl" for file in drawn_from.split())] for passage in shipped[name]
    ]
    assert held(every) == {passage.id for passage in shipped[aside]}
    groups = {passage.group_of(question) for passage in shipped[aside] for question in passage.questions}
    assert groups == {"en", "zh", "across"}


def test_a_base_is_held_out_as_a_whole(shipped: dict[str, list[Passage]]) -> None:
    for found in (passages for name, passages in shipped.items() if "base" in name):
        assert set(Counter(passage.base for passage in found).values()) == {10}


def test_the_counts_in_the_readme_are_current(shipped: dict[str, list[Passage]]) -> None:
    text = (DATA / "README.md").read_text(encoding="utf-8")
    for name, found in shipped.items():
        labels = Counter(question.label for passage in found for question in passage.questions)
        claims = sum(len(passage.claims) for passage in found)
        row = (
            f"| `{name}` | {len(found)} | {labels['answered']} | {labels['near']} | {labels['objectless']} | {claims} |"
        )
        assert row in text, row


def test_faults_are_found() -> None:
    line = {"id": "x-1", "lang": "en", "passage": LAMP, "qs": [], "claims": [{"s": "It burns.", "label": "true"}]}
    asked = {"q": "Since when?", "label": "answered", "evidence": "It was lit in 1870.", "lang": "en"}
    line["qs"] = [asked, asked, {"q": "Who?", "label": "near", "evidence": "He sleeps by day.", "lang": "en"}]
    found = list(faults(passage_of(line)))
    assert len(found) == 5 and found[0] == "duplicate question" and "unknown label: true" in found
    fine = passage_of({**line, "qs": [], "claims": []})
    assert why_not(fine, set(), set()) is None and why_not(fine, {LAMP}, set()) == "duplicate"
    assert "lamp on the pier" in str(why_not(fine, set(), runs("the lamp on the pier was lit in spring")))


# --- Groups to train on ---------------------------------------------------------------------------


def _asked(text: str, evidence: str | None, answer: str | None = None) -> Question:
    return Question(text, "answered" if evidence else "near", evidence, answer, "en")


def _two_passages() -> list[Passage]:
    lamp = _asked("Where does the oil come from?", "It burns oil from Bergen.", "Bergen")
    follow = Question("And who trims it?", "answered", "A keeper trims it twice a night.", "A keeper", "en", lamp.text)
    price = _asked("What does the oil cost?", None)
    dog = _asked("What does a dog cost?", "They travel free of charge below deck.", "free of charge")
    return [
        Passage("a-1", "en", "text", "The lamp", LAMP, (lamp, follow, price)),
        Passage("a-2", "en", "text", "Dogs on board", DOG, (dog,)),
    ]


def _by_the_sea(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return equal vectors for texts that mention the ferry, and equal ones for those that don't."""
    return np.array([[float("ferry" in text), float("ferry" not in text)] for text in texts], np.float32)


def test_a_question_is_paired_with_its_passage_with_and_without_the_evidence() -> None:
    groups = authored_groups(_two_passages(), 1, _by_the_sea, copies=8)
    assert len(groups) == 3 * 8
    for group in groups:
        whole, *others = group.items
        if "oil come" in group.question.lower():
            assert whole.label == ANSWERED and whole.evidence in whole.text and whole.answer == "Bergen"
            assert [item.label for item in others if "Bergen" not in item.text and "keeper" in item.text] == [NEAR]
        apart = [item.label for item in others if ("ferry" in item.text) != ("ferry" in whole.text)]
        assert apart == [NOT_ANSWERED]  # found by a search, so it isn't drawn as unrelated
        assert not any(item.label == ANSWERED and item.evidence not in item.text for item in group.items)
    assert {group.items[0].label for group in authored_groups(_two_passages(), 1, _by_the_sea, near=False)} == {
        ANSWERED
    }


def test_a_question_of_a_base_is_paired_with_search_results_from_it() -> None:
    lamp, dog = (replace(passage, base="pier") for passage in _two_passages())
    cable = Passage("a-3", "en", "text", "The cable", "A ferry hangs on a cable across the river.", base="river")
    for group in authored_groups([lamp, dog, cable], 1, _by_the_sea):
        found = [item.text for item in group.items if item.label == NOT_ANSWERED]
        assert len(found) == 1 and ("ferry" in found[0]) != ("ferry" in group.items[0].text)
        assert not any("river" in item.text for item in group.items)


def test_search_combines_words_and_meaning() -> None:
    lamp, dog = _two_passages()
    bridge = Passage(
        "a-3", "en", "text", "", "The ferry is dearer than the bridge.", (_asked("ferry or bridge", None),)
    )
    found = Search([lamp, bridge, dog], _by_the_sea)
    assert found.best("ferry or bridge", 2) == [bridge, dog]
    assert found.best("What does the oil cost?", 1) == [lamp]


def test_places_are_those_of_the_answer(shipped: dict[str, list[Passage]]) -> None:
    tokenizer = load_tokenizer(TOKENIZER)
    wrong = checked = 0
    for passage in shipped["held.jsonl"][:20]:
        for question in passage.questions:
            if question.answer:
                item = Item(passage.text, ANSWERED, question.answer, question.evidence)
                (pair,) = pairs_of(Group(question.text, "en", "held", [item]), tokenizer)
                if UNKNOWN in pair.places:
                    continue
                checked += 1
                said = tokenizer.decode(pair.ids[pair.places[0] : pair.places[1] + 1].tolist())
                wrong += "".join(words(question.answer)) not in "".join(words(said))
    assert checked > 40 and wrong <= checked / 10  # pieces may begin before a word, and punctuation may differ
    ids, start = join(list(range(100)), list(range(1000)))
    assert (len(ids), start, ids[0], ids[81:83]) == (MAX_TOKENS, 83, 0, [2, 2])


def test_public_questions_are_read(tmp_path: Path) -> None:
    asked = [
        {"question": "When was it lit, in 1871?", "answers": [{"text": "1871"}]},
        {"question": "Who built it?", "answers": [], "is_impossible": True},
    ]
    data = {
        "data": [{"title": "The_lamp", "paragraphs": [{"context": LAMP, "qas": asked}, {"context": DOG, "qas": []}]}]
    }
    path = tmp_path / "squad.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    found = list(public.squad(path, "squad", "en"))
    assert [question.answerable for question in found] == [True, False] and found[0].title == "The lamp"
    groups = list(public.groups_of(found))
    assert [item.label for item in groups[0].items] == [ANSWERED, NEAR] and "1871" not in groups[0].items[1].text
    assert groups[-1].items[0].label == NEAR


# --- Texts and figures ----------------------------------------------------------------------------


def test_text_functions() -> None:
    assert [LAMP[a:b] for a, b in sentences(LAMP)][1] == "It burns oil from Bergen."
    chinese = "门在南边。请走东门！\n雨天例外"
    assert [chinese[a:b] for a, b in sentences(chinese)] == ["门在南边。", "请走东门！", "雨天例外"]
    assert without(LAMP, "It burns oil from Bergen.") == LAMP.replace(" It burns oil from Bergen.", "")
    assert without(LAMP, "no such thing") is None and without("Too short.", "Too") is None
    assert words("The keepers trimmed lamps 两小时") == ["keeper", "trimm", "lamp", "两小", "小时"]
    index = BM25([LAMP, DOG])
    assert index.best("oil for the lamp", 2) == [0, 1]
    assert index.score("oil for the lamp", LAMP) == pytest.approx(index.scores("oil for the lamp")[0])


def test_figures() -> None:
    assert metrics.auc([3, 1], [2, 1]) == (1 + 1 + 0 + 0.5) / 4
    assert np.isnan(metrics.auc([], [1])) and metrics.share([1, 0, 1, 1]) == 0.75
    low, high = metrics.interval(metrics.share, [0.0, 1.0] * 50)
    assert 0.38 < low < 0.45 and 0.55 < high < 0.62
    assert metrics.with_interval(metrics.share, [1.0, 1.0]) == "1.00 (1.00–1.00)"


def test_metrics_distinguish_reading_from_guessing_by_form() -> None:
    passages = _two_passages()
    evidence = {q.text: q.evidence for passage in passages for q in passage.questions if q.evidence}

    def reads(question: str, title: str, text: str) -> Reading:
        there = evidence.get(question, "\0") in text
        start = text.find(evidence[question]) if there else 0
        return Reading(
            float(there), float(there), float(there), (start, start + len(evidence[question]) if there else 1)
        )

    def guesses(question: str, title: str, text: str) -> Reading:
        return Reading(float(question in evidence), float(question in evidence), 0.0, (0, 1))

    def figures(reader: evaluate.Read) -> Iterator[float]:
        samples = evaluate.authored(passages, reader)
        for row, figure in evaluate.ROWS.items():
            yield figure(*samples["en", row][: 2 if figure is metrics.auc else 1])

    assert list(figures(reads)) == [1.0, 1.0, 1.0, 0.5, 0.5, 1.0, 1.0]
    assert list(figures(guesses)) == [1.0, 0.5, 0.5, 1.0, 1.0, 0.0, 0.0]
    assert "| en: first of ten | 2 | 1.00 (1.00–1.00) |" in evaluate.table(
        "two", {"reads": evaluate.authored(passages, reads)}
    )


def test_the_sites_own_sets_are_measured_by_bm25() -> None:
    samples = evaluate.answers("held-small-en", None)
    assert [len(side) for side in samples["en", "answerable against near"]] == [60, 60]
    assert len(samples["en", "first of ten"][0]) == 50 and metrics.share(samples["en", "first of ten"][0]) == 0.4
