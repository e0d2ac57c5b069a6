"""The reader: scores of passages, caching, and its limit on concurrent questions."""

import asyncio
import json
import math
import threading
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import pytest
from pytest_django import Settings

from ragsite.llm.embedding.model_card import ModelCard, ReaderCalibration
from ragsite.llm.errors import BadReply, Busy, LocalModelNotFound
from ragsite.llm.passage_tokens import bundled_tokenizer
from ragsite.llm.reranking import reader as module
from ragsite.llm.reranking.reader import FourHeads, Passage, Reader, Reading, get_reader
from ragsite.runtime import caches
from tests.ragsite.llm import cross_encoder, reading_model

WEIGHTS = {"nine": 2.0, "ports": 1.0, "lunch": -1.0}
LUNCH, PORTS = Passage("Menu", "Lunch is at noon."), Passage("Switch", "It has nine ports.")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return reading_model.write(tmp_path_factory.mktemp("reader"), WEIGHTS)


def passage(*sentences: str, head: str = "") -> Passage:
    return Passage(head, "".join(sentences), tuple(accumulate(map(len, sentences[:-1]), initial=0)))


def answered(weight: float) -> float:
    """Return the logarithm of the share that a logit has beside two of 0."""
    return weight - math.log(math.exp(weight) + 2)


class Waits:
    """A model that reads when it is let, and counts what it was given."""

    calibration = ReaderCalibration()
    places = 1

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.asked: list[str] = []

    async def read(self, question: str, passage: Passage, stop: threading.Event) -> Reading:
        self.asked.append(passage.content)
        await self.go_on.wait()
        return Reading(float(len(passage.content)))


async def test_a_reading_ranks_judges_and_points(folder: Path) -> None:
    ports, lunch = await Reader("tiny", FourHeads(folder)).read("how many?", [PORTS, LUNCH])
    assert (ports.rank, lunch.rank) == (3.0, -1.0)
    strength = 4.0 - reading_model.NONE
    assert ports.answers == pytest.approx(2 * strength)  # of the short answer and of its sentence
    assert ports.sentences == ((0, pytest.approx(strength)),)
    assert (ports.start, ports.end) == (0, len(PORTS.content))
    assert (lunch.start, lunch.end, lunch.answers) == (None, None, -2 * reading_model.NONE)
    assert ports.related is not None and lunch.related is not None and ports.related > lunch.related


async def test_the_answering_sentence_is_located(folder: Path) -> None:
    found = passage("It is grey.  ", "\n It has nine ports.\n\n", "It has ports.", head="Nine ports")
    (reading,) = await Reader("tiny", FourHeads(folder)).read("how many?", [found])
    assert found.content[reading.start : reading.end] == "It has nine ports."
    assert reading.rank == 7.0  # with the head's
    first_word = passage("It is grey. ", "Nine are there. ", "It is.")
    (reading,) = await Reader("tiny", FourHeads(folder)).read("how many?", [first_word])
    assert first_word.content[reading.start : reading.end] == "Nine are there."


async def test_what_seems_to_answer_is_read_once_more_with_its_neighbours_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[tuple[str, tuple[int, ...]]] = []
    less = 0.0
    read_windows = FourHeads._read_windows

    def spy(model: FourHeads, question: str, each: Passage, stop: threading.Event) -> Reading:
        read.append((each.content, each.starts))
        reading = read_windows(model, question, each, stop)
        return replace(reading, answers=(reading.answers or 0.0) - less) if len(read) > 1 else reading

    monkeypatch.setattr(FourHeads, "_read_windows", spy)
    long = passage("It is. ", "It was. ", "Nine ports. ", "It is. ", "It was. ", head="Switch")
    reader = Reader("tiny", FourHeads(folder))
    (reading,) = await reader.read("how many?", [long])
    assert read == [(long.content, long.starts), ("It was. Nine ports. It is. ", (0, 8, 20))]
    alike = reading.answers
    assert alike is not None and long.content[reading.start : reading.end] == "Nine ports."
    less = 2 * alike + 2.0  # it answers less than none, seen closer
    read.clear()
    caches.clear_all()
    (reading,) = await reader.read("how many?", [long])
    assert (reading.answers, reading.start, reading.end) == (pytest.approx(-1.0), None, None)
    # Neither what doesn't answer is, nor what has nothing around it.
    read.clear()
    await reader.read("how many?", [LUNCH, passage("It is. ", "Nine ports.")])
    assert len(read) == 2


async def test_the_calibration_moves_what_counts_as_an_answer(tmp_path: Path) -> None:
    calibration = {"answers": [2, -12.5], "blend": 3}
    reader = get_reader(str(reading_model.write(tmp_path, WEIGHTS, calibration=calibration)))
    (reading,) = await reader.read("how many?", [PORTS])
    assert reading.answers == pytest.approx(2 * 6.0 - 12.5)
    assert (reading.start, reader.calibration.blend) == (None, 3)
    assert ModelCard.of(tmp_path).reader == ReaderCalibration((2.0, -12.5), 3.0)


async def test_a_long_passage_is_read_by_windows_of_whole_sentences(tmp_path: Path) -> None:
    # 6 tokens around a question of 2, so 10 of a passage.
    reader = Reader("short", FourHeads(reading_model.write(tmp_path, WEIGHTS, max_length=16)))
    filler = "One two three four five six seven. "  # 8 tokens
    long = passage(filler, "Nine ports and ports. ", filler, "Nine nine. ", "Lunch.")
    (reading,) = await reader.read("how many", [long])
    # Neither does the first window take half of the second sentence, nor the second one the lunch of the last.
    assert reading.rank == 4.0
    assert long.content[reading.start : reading.end] == "Nine ports and ports."
    stop = threading.Event()
    stop.set()
    assert FourHeads(tmp_path)._read("how many", long, stop).rank == 0.0  # nobody waits for the second window
    endless = passage("one " * 25 + "ports nine " + "two " * 5)
    (cut,) = await reader.read("how many", [endless])
    assert cut.rank == 3.0 and (cut.start, cut.end) == (0, len(endless.content.rstrip()))
    (empty,) = await reader.read("how many", [Passage("Nine ports", "")])
    assert (empty.rank, empty.start) == (3.0, None)


async def test_what_is_read_beside_a_passage_does_not_change_what_it_is_worth() -> None:
    reader = get_reader("bundled")
    long = Passage("Garden", "The garden is open from May to October, and closed on days of heavy rain. " * 3)
    together = await reader.read("How many ports are there?", [PORTS, LUNCH, long])
    caches.clear_all()
    turned = await reader.read("How many ports are there?", [long, PORTS, PORTS])
    assert turned == [together[2], together[0], together[0]]
    assert together[0].rank > max(together[1].rank, together[2].rank)


async def test_what_was_read_is_kept_by_question_and_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CACHED_READINGS", 3)
    model = Waits()
    model.go_on.set()
    reader = Reader("counts", model)
    first = await reader.read("a?", [PORTS, LUNCH])
    assert await reader.read("a?", [LUNCH, PORTS]) == first[::-1] and len(model.asked) == 2
    await reader.read("b?", [PORTS])
    await reader.read("a?", [Passage("Other", PORTS.content)])
    assert len(model.asked) == 4
    await reader.read("a?", [PORTS])
    assert len(model.asked) == 4
    await reader.read("a?", [LUNCH])  # which was unused for longest
    assert len(model.asked) == 5
    await Reader("another", model).read("b?", [PORTS])
    assert len(model.asked) == 6


async def test_no_more_questions_are_read_at_once_than_twice_the_threads() -> None:
    model = Waits()
    reader = Reader("busy", model)
    first = asyncio.create_task(reader.read("a?", [PORTS]))
    second = asyncio.create_task(reader.read("d?", [PORTS]))
    await asyncio.sleep(0)
    with pytest.raises(Busy):
        await reader.read("b?", [PORTS])
    patient = asyncio.create_task(reader.read("c?", [PORTS], patient=True))
    await asyncio.sleep(0)
    model.go_on.set()
    assert await first == await patient == await second
    assert await reader.read("b?", [PORTS]) == await first  # the place is free
    model.go_on.clear()
    assert await reader.read("a?", [PORTS]) == await first  # what is known takes none


def test_the_threads_are_those_of_the_embedding(folder: Path, settings: Settings) -> None:
    settings.EMBEDDING_THREADS = 3
    assert FourHeads(folder).places == 3
    settings.EMBEDDING_THREADS = 0
    assert FourHeads(folder).places >= 1


async def test_who_stops_waiting_stops_what_has_not_begun(
    folder: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.EMBEDDING_THREADS = 1
    model = FourHeads(folder)
    reader, read, begun, go_on = Reader("stopped", model), model._read, [], threading.Event()
    running = threading.Event()

    def wait(question: str, passage: Passage, stop: threading.Event) -> Reading:
        begun.append(passage)
        running.set()
        go_on.wait(60)
        return read(question, passage, stop)

    monkeypatch.setattr(model, "_read", wait)
    task = asyncio.create_task(reader.read("a?", [Passage("", f"ports {number}") for number in range(5)]))
    await asyncio.to_thread(running.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    assert (await reader.read("b?", [PORTS]))[0].rank == 3.0
    assert len(begun) == 2


async def test_a_larger_cross_encoder_takes_the_place_by_its_folder(tmp_path: Path) -> None:
    folder = cross_encoder.write(tmp_path / "without")
    pairs = [Passage("Reset", "the switch"), Passage("", "lunch")]
    without = await get_reader(str(folder)).read("reset the switch", pairs)
    assert without == [Reading(5.0), Reading(-1.0)]
    folder = cross_encoder.write(tmp_path / "with")
    (folder / "calibration.json").write_text(json.dumps({"reader": {"answers": [0.5, -2]}}))
    readings = await get_reader(str(folder)).read("reset the switch", pairs)
    assert [reading.answers for reading in readings] == pytest.approx([0.5, -2.5])


async def test_failures_to_load_or_run_are_reported(tmp_path: Path) -> None:
    with pytest.raises(LocalModelNotFound):
        get_reader("/no/such/folder")
    broken = reading_model.write(tmp_path / "broken", WEIGHTS)
    (broken / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(LocalModelNotFound):
        await get_reader(str(broken)).read("a?", [PORTS])
    wordless = reading_model.write(tmp_path / "wordless", WEIGHTS)
    (wordless / "tokenizer.json").write_text("{}")
    with pytest.raises(LocalModelNotFound):
        await get_reader(str(wordless)).read("a?", [PORTS])
    numberless = reading_model.write(tmp_path / "numberless", {"ports": math.nan})
    with pytest.raises(BadReply):
        await get_reader(str(numberless)).read("a?", [PORTS])


def test_the_bundled_reader_shares_the_tokenizer_that_is_there() -> None:
    model = get_reader("bundled")._model
    assert isinstance(model, FourHeads)
    assert model._load()[1] is bundled_tokenizer()
