"""Reading hits together with the question: order, readings, notes and failures."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from ragsite.llm.embedding.model_card import ReaderCalibration
from ragsite.llm.errors import Busy
from ragsite.llm.reranking.reader import Passage, Reader, Reading, get_reader
from retrieval.answerability import reading as module
from retrieval.answerability.reading import passage_of, read_hits, warm_up
from retrieval.checks import reader_is_there
from retrieval.types import Hit
from tests.ragsite.llm import reading_model


def hit(number: int, content: str, **fields: Any) -> Hit:
    filled = Hit(number, 1, 1, content, "text", "a.txt", "Ports", 1, 1 / number, [], title="Switches")
    return replace(filled, **fields)


HITS = [hit(1, "Grey."), hit(2, "Ports."), hit(3, "Red."), hit(4, "Nine ports."), hit(5, "Nine nine ports.")]


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Path:
    """A reader that looks for two words."""
    folder = reading_model.write(tmp_path / "reader", {"nine": 2.0, "ports": 1.0})
    settings.READER_MODEL = str(folder)
    settings.READER_TIMEOUT = 60
    return folder


def numbers(hits: list[Hit]) -> list[int]:
    return [found.chunk_id for found in hits]


async def test_the_order_is_blended_and_unread_hits_stay_below(tmp_path: Path, settings: Settings) -> None:
    folder = reading_model.write(tmp_path, {"nine": 2.0, "ports": 1.0}, calibration={"answers": [0, 0]})
    settings.READER_MODEL, settings.READER_TIMEOUT = str(folder), 60
    outcome = await read_hits("how many?", HITS, 4)
    # Fused scores 1, 1/2, 1/3, 1/4 and ranks 1, 2, 1, 4, both in deviations from their means.
    assert outcome.scores == pytest.approx({1: 0.831, 2: -0.072, 4: 0.702, 3: -1.461}, abs=0.001)
    assert numbers(outcome.hits) == [1, 4, 2, 3, 5]
    read = {found.chunk_id: found.reading for found in outcome.hits}
    assert read[4] is not None and read[4].rank == 4.0 and read[5] is None  # under a heading with "Ports"
    assert outcome.note == ""


async def test_worth_is_blended_if_all_hits_were_reordered(folder: Path) -> None:
    worths = [replace(found, worth=found.score**-1) for found in HITS]
    assert numbers((await read_hits("how many?", worths, 4)).hits) == [4, 3, 2, 1, 5]
    some = [*worths[:3], replace(worths[3], worth=None)]
    assert numbers((await read_hits("how many?", some, 4)).hits) == [1, 4, 2, 3]


async def test_the_answer_score_counts_besides_the_rank(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read(self: Reader, question: str, passages: list[Any], **kwargs: Any) -> list[Reading]:
        return [Reading(2.0, -3.0), Reading(0.0, 1.0), Reading(1.0, None), Reading(1.5, -2.0)]

    monkeypatch.setattr(Reader, "read", read)
    alike = [replace(found, score=1.0) for found in HITS]
    settings.READER_MODEL = str(reading_model.write(tmp_path, {}))
    assert numbers((await read_hits("how many?", alike, 4)).hits) == [2, 3, 4, 1, 5]


async def test_the_blend_comes_from_the_calibration(tmp_path: Path, settings: Settings) -> None:
    folder = reading_model.write(tmp_path, {"nine": 2.0, "ports": 1.0}, calibration={"blend": 9})
    settings.READER_MODEL, settings.READER_TIMEOUT = str(folder), 60
    assert numbers((await read_hits("how many?", HITS, 5)).hits)[:2] == [5, 4]


async def test_passages_not_read_in_time_stay_below_with_a_note(
    folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read(
        self: Reader, question: str, passages: list[Passage], *, seconds: float, **kwargs: Any
    ) -> list[Reading | None]:
        assert 0 < seconds <= 2
        return [Reading(1.0) if passage.content in read_in_time else None for passage in passages]

    settings.READER_TIMEOUT = 2
    monkeypatch.setattr(Reader, "read", read)
    read_in_time = {"Ports.", "Nine ports."}
    outcome = await read_hits("how many?", HITS, 4)
    assert numbers(outcome.hits) == [2, 4, 1, 3, 5] and set(outcome.scores) == {2, 4}
    assert outcome.note == "Only 2 passages were read: the reader took too long."
    read_in_time = set()
    outcome = await read_hits("how many?", HITS, 4)
    assert (outcome.hits, outcome.scores) == (HITS, {})
    assert outcome.note == "The passages were not read: the reader took too long."


@pytest.mark.parametrize(
    ("answers", "brief", "steps"), [(0.9, True, [4, 6]), (1.0, True, [4]), (1.0, False, [15]), (None, True, [4, 6])]
)
async def test_brief_reading_stops_if_one_of_the_first_clearly_answers(
    folder: Path, monkeypatch: pytest.MonkeyPatch, answers: float | None, brief: bool, steps: list[int]
) -> None:
    async def read(self: Reader, question: str, passages: list[Passage], **kwargs: Any) -> list[Reading | None]:
        taken.append(len(passages))
        return [Reading(1.0, answers) for _passage in passages]

    taken: list[int] = []
    monkeypatch.setattr(Reader, "read", read)
    outcome = await read_hits("how many?", [hit(number, "Ports.") for number in range(1, 21)], 15, brief=brief)
    assert taken == steps and len(outcome.scores) == sum(steps) and outcome.note == ""


async def test_readings_are_kept_if_the_reader_becomes_busy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def read(self: Reader, question: str, passages: list[Passage], **kwargs: Any) -> list[Reading | None]:
        if len(passages) == 1:
            raise Busy
        return [Reading(float(number)) for number, _passage in enumerate(passages)]

    monkeypatch.setattr(Reader, "read", read)
    outcome = await read_hits("how many?", HITS, 10, brief=True)
    assert outcome.hits[-1].reading is None and len(outcome.scores) == 4
    assert outcome.note == "Only 4 passages were read: the reader is busy with other questions."


async def test_patient_reading_has_no_timeout(folder: Path, settings: Settings) -> None:
    settings.READER_TIMEOUT = 0
    assert (await read_hits("how many?", HITS, 4)).note
    assert (await read_hits("how many?", HITS, 4, patient=True)).scores


async def test_a_busy_reader_keeps_the_order_with_a_note(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*args: Any, **kwargs: Any) -> list[Reading]:
        raise Busy

    monkeypatch.setattr(Reader, "read", refuse)
    outcome = await read_hits("how many?", HITS, 4)
    assert (outcome.hits, outcome.note) == (
        HITS,
        "The passages were not read: the reader is busy with other questions.",
    )


async def test_a_missing_reader_keeps_the_order_with_a_note(settings: Settings) -> None:
    settings.READER_MODEL = "/no/such/folder"
    outcome = await read_hits("how many?", HITS, 4)
    assert (outcome.hits, outcome.note) == (HITS, "The passages were not read: the reader can't be loaded.")


@pytest.mark.parametrize(
    ("question", "found", "answer"),
    [
        (
            "When are bikes without a sticker taken away?",
            hit(1, "The cellar opens with the staff card. Bicycles without a green sticker are removed twice a year. "
                "It is cleaned in May.", title="Bicycle cellar", heading=""),
            "Bicycles without a green sticker are removed twice a year.",
        ),
        (
            "年假要提前多久申请？",
            hit(1, "入职满一年的员工每年可享受十天带薪年假。年假须提前两周向部门经理申请。"
                "未休完的年假可以顺延到次年三月底。", title="员工手册", heading="年假"),
            "年假须提前两周向部门经理申请。",
        ),
        (
            "How long is the warranty of the coffee machine?",
            hit(1, "Device | Warranty\nVacuum cleaner | 2 years\nCoffee machine | 5 years. Parts: 1 year.\n"
                "Kettle | 3 years", kind="table", title="Warranty", heading=""),
            "Coffee machine | 5 years. Parts: 1 year.",
        ),
    ],
)  # fmt: skip
async def test_the_sentence_or_row_that_answers_is_found(
    question: str, found: Hit, answer: str, settings: Settings
) -> None:
    settings.READER_MODEL = "bundled"
    (read,) = (await read_hits(question, [found], 1, patient=True)).hits
    assert read.reading is not None
    assert read.content[read.reading.start : read.reading.end] == answer


def test_a_passage_is_read_under_its_title_and_headings() -> None:
    assert passage_of(hit(1, "One. Two.")).head == "Switches › Ports"
    assert passage_of(hit(1, "One. Two.", title="", heading="")).head == "a.txt"
    assert passage_of(hit(1, "One. Two.", heading="Switches")).head == "Switches"
    assert passage_of(hit(1, "One. Two.")).starts == (0, 5)
    assert passage_of(hit(1, "One. Two\nThree", kind="table")).starts == (0, 9)
    assert passage_of(hit(1, "")).starts == (0,)


async def test_question_and_passage_are_read_in_simplified_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Listening:
        calibration = ReaderCalibration()

        async def read(self, question: str, passages: Sequence[Passage], **_options: Any) -> list[Reading]:
            asked.extend([question, *(f"{passage.head}: {passage.content}" for passage in passages)])
            return [Reading(1.0) for _passage in passages]

    monkeypatch.setattr(module, "get_reader", lambda _model: Listening())
    outcome = await read_hits("運費由誰承擔？", [hit(1, "由賣方承擔。", title="", heading="運費")], 1)
    assert asked == ["运费由谁承担？", "a.txt › 运费: 由卖方承担。"]
    assert outcome.hits[0].content == "由賣方承擔。"


def test_the_reader_is_loaded_at_startup_if_used(
    folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []

    def load(model: str) -> Reader:
        loaded.append(model)
        return get_reader(model)

    monkeypatch.setattr(module, "get_reader", load)
    warm_up()
    settings.ENABLE_READER, settings.READER_MODEL = True, "off"
    warm_up()
    assert loaded == []
    settings.READER_MODEL = str(folder)
    warm_up()
    assert loaded == [str(folder)] and get_reader(str(folder))._model._loaded is not None  # type: ignore[attr-defined]
    settings.READER_MODEL = "/no/such/folder"
    warm_up()  # the search that needs it says what is wrong


def test_the_system_check_reports_missing_reader_files(folder: Path, settings: Settings) -> None:
    assert not reader_is_there(None)
    (folder / "model.onnx").unlink()
    assert "no model.onnx" in reader_is_there(None)[0].msg
    settings.READER_MODEL = str(folder / "other")
    assert "is not a folder" in reader_is_there(None)[0].msg
    settings.READER_MODEL = "off"
    assert not reader_is_there(None)
