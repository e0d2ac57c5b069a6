"""`manage.py bench_followups`: the figures, and errors in the files."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from tests.benchmarks.conversations.followups import Case, cases, questions_of
from tests.factories import make_user

pytestmark = pytest.mark.django_db(transaction=True)

PASSAGES = {
    "ports": "The TL-SE2109 switch has nine ports.",
    "price": "The price of the TL-SE2109 switch is 90 euros.",
    "other": "The price of the rack mounting kit is 20 euros.",
    **{f"kit{number}": f"What is its price? That of kit number {number} is {number} euros." for number in range(6)},
}
LAST = {
    "a1": "How many ports has the TL-SE2109 switch?",
    "a2": "What is its price?",
    "b1": "Is the kit mounted in a rack?",
}
JOINED = {
    "a1": "|user|: How many ports has the TL-SE2109 switch?",
    "a2": "|user|: How many ports has the TL-SE2109 switch?\n|user|: What is its price?",
    "b1": "|user|: Is the kit mounted in a rack?",
}
REWRITES = LAST | {"a2": "What is the price of the TL-SE2109 switch?"}
QRELS = {"a1": "ports", "a2": "price", "b1": "other"}


@pytest.fixture
def bench() -> User:
    return make_user("bench")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    def write(name: str, texts: dict[str, str]) -> Path:
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps({"_id": key, "text": text}) + "\n" for key, text in texts.items()))
        return path

    qrels = tmp_path / "qrels.tsv"
    qrels.write_text("query\tpassage\tgrade\n" + "".join(f"{query}\t{right}\t1\n" for query, right in QRELS.items()))
    return {
        "corpus": write("corpus", PASSAGES),
        "last": write("last", LAST),
        "questions": write("questions", JOINED),
        "rewrites": write("rewrites", REWRITES),
        "qrels": qrels,
    }


def run(**options: Any) -> dict[str, list[str]]:
    """Return the cells of each way's row."""
    out = StringIO()
    call_command("bench_followups", knowledge_base="Kit", stdout=out, **options)
    rows = [line.strip("| ").split(" | ") for line in out.getvalue().splitlines() if line.startswith("|")]
    return {row[0]: row[1:] for row in rows}


def test_each_way_has_figures(bench: User, files: dict[str, Path]) -> None:
    rows = run(user="bench", **files)
    assert rows["by the rules"] == ["1.000"] * 4
    assert rows["the question alone"][0] == "0.000" and rows["the question alone"][2] == "0.667"
    assert rows["people's rewriting"][0] == rows["stand-alone, first"][0] == "1.000"
    del files["corpus"]
    assert run(**files) == rows  # from the existing base


def test_complete_questions_are_asked_after_one_another(bench: User, files: dict[str, Path], tmp_path: Path) -> None:
    run(user="bench", corpus=files["corpus"], last=files["last"], qrels=files["qrels"])
    asked = {"a1": LAST["a1"], "a2": REWRITES["a2"], "b1": "And what is its price?"}
    lines = [
        {"id": key, "kind": "answerable", "language": "en", "question": text, "document": key[0], "answers": ["9"]}
        for key, text in asked.items()
    ]
    complete = tmp_path / "set.jsonl"
    complete.write_text("\n".join(map(json.dumps, lines)))
    rows = run(complete=complete)
    assert rows["the same document"] == ["en", "2", "1.000"] and rows["other documents"] == ["en", "3", "0.667"]


def test_without_conversations_there_are_no_later_questions(bench: User, files: dict[str, Path]) -> None:
    rows = run(user="bench", corpus=files["corpus"], last=files["last"], qrels=files["qrels"])
    assert all(row[:2] == ["–", "–"] for way, row in rows.items() if way != "way" and "---" not in way)


def test_missing_files_are_reported(bench: User, files: dict[str, Path]) -> None:
    with pytest.raises(CommandError, match="--user"):
        run(**files)
    with pytest.raises(CommandError, match="no knowledge base 'Kit'"):
        run(last=files["last"], qrels=files["qrels"])
    call_command("load_corpus", files["corpus"], knowledge_base="Kit", user="bench", stdout=StringIO())
    files["qrels"].write_text("query\tpassage\tgrade\na1\tunknown\t1\n")
    with pytest.raises(CommandError, match="unknown"):
        run(last=files["last"], qrels=files["qrels"])


def test_questions_follow_their_own_and_unrelated_ones() -> None:
    found = cases(LAST, JOINED, REWRITES, {"a2": {"7": 1}, "b1": {"8": 2}})
    assert found == [
        Case(LAST["a2"], (LAST["a1"],), REWRITES["a2"], (LAST["b1"],), {"7": 1}),
        Case(LAST["b1"], (), LAST["b1"], (LAST["a1"], LAST["a2"]), {"8": 2}),
    ]


def test_questions_are_split_by_their_marks() -> None:
    assert questions_of("|user|: One?\n|user|:\n|user|: Two\nlines? ") == ("One?", "Two\nlines?")
    assert questions_of("One?") == ("One?",)
