"""`manage.py bench_multihop`: its questions, its figures, and its scripted model."""

import json
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management import CommandError, call_command

from tests.benchmarks.conversations.multihop import figures, questions
from tests.benchmarks.conversations.multihop.asking import Outcome
from tests.benchmarks.conversations.multihop.questions import MULTI, SINGLE, Part, Passage, Question
from tests.benchmarks.conversations.multihop.script import Purpose, ScriptedModel
from tests.benchmarks.retrieval import scratch

PORTS = "The TL-SE2109 switch has nine ports, of which one is for administration."
PRICE = "The price of the rack mounting kit is twenty euros, without screws."
QUESTION = Question(
    id="en-join-1",
    language="en",
    kind="join",
    hops=3,
    text="How many ports has the TL-SE2109, what does the mounting kit cost, and who paints them?",
    parts=(
        Part("ports", (Passage("switches/ports.txt", "has nine ports, of which one"),)),
        Part("price", (Passage("price.txt", "kit is twenty euros, without"),)),
        Part("paint", ()),
    ),
    split=("TL-SE2109 ports", "mounting kit price"),
    then=(),
)


def outcome(question: Question, *found: bool, reported: bool | None = None, ms: float = 1.0) -> Outcome:
    return Outcome(question, found, found, reported, state="answered", searches=2, ms=ms, failed=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return documents, with `QUESTION` as both sets, in the tests' own database, since creating another takes long."""
    monkeypatch.setattr(scratch, "database", lambda name, keep: nullcontext())
    for name in ("empty", "set_stamp"):
        monkeypatch.setattr(scratch, name, lambda *args: None)
    monkeypatch.setattr(scratch, "stamp", lambda: "")
    monkeypatch.setattr(questions, "load", lambda name: [QUESTION])
    documents = tmp_path / "documents"
    (documents / "switches").mkdir(parents=True)
    (documents / "switches" / "ports.txt").write_text(PORTS)
    (documents / "price.txt").write_text(PRICE)
    return documents


def run(folder: Path, **options: Any) -> list[list[str]]:
    """Return the cells of the printed rows."""
    out = StringIO()
    call_command("bench_multihop", folder, stdout=out, **options)
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in out.getvalue().splitlines() if "|" in line
    ]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("scripted", [False, True])
def test_pipelines_are_compared(folder: Path, tmp_path: Path, scripted: bool) -> None:
    rows = run(folder, pipelines="default,quick", scripted=scripted, json=tmp_path / "out.json")
    several = [row[3:7] for row in rows if row[:3] == ["several searches", "en", "1"]]
    assert several == [["default", "1.000", "1.000", "1.000"], ["quick", "1.000", "1.000", "1.000"]]
    assert ["join", "all", "+0.000", "+0.000 … +0.000", "0", "0", "1.000"] in rows
    written = json.loads((tmp_path / "out.json").read_text())
    assert [(name, found[0]["found"], found[0]["failed"]) for name, found in written.items()] == [
        ("default", [True, True], False),
        ("quick", [True, True], False),
    ]


@pytest.mark.django_db(transaction=True)
def test_errors_are_reported(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no pipeline 'slow'"):
        run(folder, pipelines="slow")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CommandError, match="No file"):
        run(tmp_path / "empty")
    (folder / "price.txt").write_text("The price is not known.")
    with pytest.raises(CommandError, match=r"en-join-1: price\.txt: kit is twenty euros"):
        run(folder)


def test_figures_are_of_all_questions_and_of_each_kind() -> None:
    single = replace(QUESTION, kind=SINGLE, language="zh")
    outcomes = [
        outcome(QUESTION, True, False, reported=True, ms=2.0),
        outcome(QUESTION, True, True),
        outcome(single, True),
    ]
    rows = {
        (language, kind): figures.row(language, kind, list(filter(belongs, outcomes)))
        for language, kind, belongs in figures.groups(outcomes)
    }
    assert set(rows) == {
        *((language, kind) for kind in ("several searches", "join") for language in ("en", "all")),
        *((language, SINGLE) for language in ("zh", "all")),
    }
    several = rows["all", "several searches"]
    assert several == figures.Row("all", "several searches", 2, 0.75, 0.5, 0.75, 1.0, 2.0, 1.5)
    assert rows["all", SINGLE].reported is None


def test_two_pipelines_are_compared_question_by_question() -> None:
    first = [outcome(QUESTION, True, False)] * 8
    second = [outcome(QUESTION, True, True)] * 6 + [outcome(QUESTION, False, False)] + [outcome(QUESTION, True, False)]
    found = figures.compare(first, second)
    assert (found.difference, found.better, found.worse) == (pytest.approx(2.5 / 8), 6, 1)
    assert found.p == pytest.approx(2 * (1 + 7) / 2**7)
    assert -0.5 < found.low < found.difference < found.high <= 0.5


async def test_the_scripted_model_splits_the_question_that_a_request_is_about() -> None:
    longer = replace(QUESTION, text=f"{QUESTION.text} Tell me soon.", split=("soon",))
    purposes = [Purpose("Split", lambda question: json.dumps(question.split))]
    with ScriptedModel([QUESTION, longer], purposes) as model:

        async def reply(text: str) -> str:
            body = {"messages": [{"role": "system", "content": "Split it."}, {"role": "user", "content": text}]}
            answer = await client.post(f"{model.base_url}/chat/completions", json=body)
            return str(answer.json()["choices"][0]["message"]["content"])

        async with httpx.AsyncClient() as client:
            assert json.loads(await reply(f"Question: {QUESTION.text}")) == list(QUESTION.split)
            assert json.loads(await reply(f"Question: {longer.text}")) == ["soon"]
            assert await reply("Question: What else?") == "You said: What else?"


def test_the_sets_are_valid() -> None:
    sets = {name: questions.load(name) for name in questions.SETS}
    every = [question for of_set in sets.values() for question in of_set]
    assert len({question.id for question in every}) == len({question.text for question in every}) == len(every)
    for name in ("dev", "held"):  # a third of each language and kind, by a rule that knows nothing else
        assert all((int(question.id.rpartition("-")[2]) % 3 == 1) == (name == "dev") for question in sets[name])
    for of_sets, each in (([*sets["dev"], *sets["held"]], 18), (sets["fresh"], 8)):
        several = [question for question in of_sets if question.kind in MULTI]
        counts = Counter((question.language, bool(question.missing)) for question in several)
        assert set(counts.values()) == {each} and len(counts) == 4
    for question in every:
        assert question.needed and len(question.missing) <= 1 and question.hops == len(question.parts)
        assert 1 <= len(question.split) <= 4 and len(question.then) <= 4
        assert bool(question.then) == (question.kind == "chain")
        snippets = [passage.snippet for part in question.parts for passage in part.passages]
        assert min(map(len, snippets)) >= 30, question.id
    assert all(question.hops == 1 and not question.missing for question in every if question.kind == SINGLE)
