"""`manage.py bench_answers`: matching of answers, figures, and complete runs that leave nothing behind."""

import json
import threading
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import translation
from django.utils.translation import gettext

from conversations import services, turn_store
from conversations.models import ChatSession, Message, Turn
from conversations.pipeline.writing.blocks import escape_markdown
from conversations.turn_store import TurnRefused
from conversations.turns import lifecycle
from knowledge.models import KnowledgeBase
from ragsite.llm.errors import NoAnswer
from tests import database_threads, factories
from tests.benchmarks.conversations.answers import (
    CurvePoint,
    Outcome,
    PlaceRow,
    Question,
    as_foreign,
    curve,
    first_of_each,
    holds,
    judge,
    place_rows,
    read_questions,
    sentences,
    state_rows,
)
from tests.conversations.conftest import HANDBOOK, index_document
from tests.factories import make_chunk, make_document, make_knowledge_base
from tests.fakes.llm import FakeLLM

DATA = Path(__file__).parents[2] / "conversations" / "data" / "answers"

SETS: dict[str, list[dict[str, Any]]] = {
    "kit.jsonl": [
        {"kind": "answerable", "question": "How many ports has the TL-SE2109 switch?", "answers": ["nine ports"]},
        {"kind": "answerable", "question": "How long is the reset button of the switch held?", "answers": ["1 minute"]},
        {"kind": "near", "question": "Does the TL-SE2109 switch have a fan?"},
        {"kind": "elsewhere", "question": "Who painted the Mona Lisa?"},
        {"kind": "objectless", "question": "What about that?"},
        {"kind": "answerable", "question": "端口隔离默认是启用的吗？", "answers": ["端口隔离是关闭的"]},
    ],
    "other.jsonl": [
        {"kind": "answerable", "question": "When was the cathedral of Reims built?", "answers": ["1211"]},
        {"kind": "near", "question": "Who paid for the cathedral of Reims?"},
    ],
}


@pytest.fixture
def sets(tmp_path: Path) -> dict[str, Path]:
    """Write the sets; every question has an id and a language, and an answerable one its document."""
    for name, questions in SETS.items():
        lines = [
            {"id": f"q{number}", "language": "en" if question["question"].isascii() else "zh"}
            | ({"document": "manuals/handbook.txt"} if "answers" in question else {})
            | question
            for number, question in enumerate(questions)
        ]
        text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n"
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name.removesuffix(".jsonl"): tmp_path / name for name in SETS}


def run(*files: Path, **options: Any) -> dict[tuple[str, str], list[str]]:
    """Return the cells of every row, by its name and language."""
    out = StringIO()
    call_command("bench_answers", *map(str, files), knowledge_base="Handbook", stdout=out, **options)
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in out.getvalue().splitlines() if line]
    return {(row[0], row[1]): row[2:] for row in rows}


class TestHolding:
    @pytest.mark.parametrize(
        ("text", "answers"),
        [
            ("It takes 300 seconds.", ["300 seconds"]),
            ("It takes\n300  SECONDS.", ["an hour", "300seconds"]),
            ("| Port | **80** |", ["Port 80"]),
            ("默认为８０端口。", ["80 端口"]),
            ("默认 为 80 端口。", ["80端口"]),
        ],
    )
    def test_case_and_character_forms_do_not_matter(self, text: str, answers: list[str]) -> None:
        assert holds(text, answers)

    @pytest.mark.parametrize("answers", [["301 seconds"], [], ["* "], ["It takes seconds"]])
    def test_another_text_does_not_contain_it(self, answers: list[str]) -> None:
        assert not holds("It takes 300 seconds.", answers)


class TestSentences:
    def said(self, text: str) -> list[str]:
        return sentences([{"kind": "text", "text": text}])

    def test_of_text(self) -> None:
        assert self.said(
            "It *is* set in `gimprc`, the **file**. [1] … It opens at 10:30. It ends【2】.\n\nOr not."
        ) == [
            "It is set in gimprc, the file.",
            "It opens at 10:30.",
            "It ends.",
            "Or not.",
        ]
        assert self.said("先按住按钮。[1]再松开。") == ["先按住按钮。", "再松开。"]

    def test_headings_and_empty_lines_do_not_count(self) -> None:
        assert self.said("# Reset\n\n**Resetting \\[all\\]** [1]\n\n**Hold the button.**\n\n- **Or not**\n\n---\n") == [
            "Hold the button.",
            "Or not",
        ]

    def test_what_is_escaped_is_text(self) -> None:
        text = "1. Set GIT_EDITOR [x] to *.otp in C:\\new, [2] and `so` on."
        assert self.said(escape_markdown(text) + " [1]") == [text]

    @pytest.mark.parametrize("language", ["en", "zh-hans"])
    def test_the_closing_note_does_not_count(self, language: str) -> None:
        with translation.override(language):
            note = gettext("Quoted from your documents — no language model is configured.")
        assert self.said(f"It is nine.\n\n*{note}*") == ["It is nine."]

    def test_of_tables_and_code(self) -> None:
        blocks: list[dict[str, Any]] = [
            {"kind": "table", "columns": ["Model", "Ports"], "rows": [["A", "8"], ["B", "9"]]},
            {"kind": "image", "alt": "A switch.", "url": "x"},
            {"kind": "code", "text": "reset --all\nreset. Now!\n"},
            {"kind": "text", "text": "Then type:\n\n```sh\nports[1] = 9. A\n# b\n```\n\nDone."},
        ]
        assert sentences(blocks) == [
            "Model | Ports | A | 8",
            "Model | Ports | B | 9",
            "reset --all\nreset. Now!",
            "Then type:",
            "ports[1] = 9. A\n# b",
            "Done.",
        ]


class TestJudging:
    QUESTION = Question("a", "answerable", "en", "How long?", "manuals/kit.md", ("300 seconds", "five minutes"))

    def test_ranks_count_from_one_and_to_five(self) -> None:
        blocks = [{"kind": "text", "text": "Wait. It takes five minutes. It takes 300 seconds."}]
        passages = [("kit.md", "no"), ("other.md", "300 seconds"), ("kit.md", "Five minutes")]
        found = judge(self.QUESTION, "answered", blocks, passages, {"relevance": 0.5, "answering": "x"})
        assert (found.passage, found.own_passage, found.sentence) == (2, 3, 2)
        assert (found.relevance, found.answering) == (0.5, None)
        found = judge(self.QUESTION, "nearest", [], [("kit.md", "no")] * 5 + [("kit.md", "300 seconds")])
        assert (found.passage, found.own_passage, found.sentence, found.sentences) == (None, None, None, ())
        assert (found.relevance, found.answering) == (None, None)

    def test_other_kinds_have_no_right_passage(self) -> None:
        found = judge(Question("n", "near", "en", "How long?"), "answered", [], [("", "300 seconds")])
        assert found.passage is None and found.own_passage is None


def outcome(kind: str, state: str, language: str = "en", **fields: Any) -> Outcome:
    return Outcome(Question("q", kind, language, "?"), state, **fields)


class TestFigures:
    def test_tones_by_kind_and_language(self) -> None:
        rows = state_rows(
            [
                outcome("near", "nearest"),
                outcome("answerable", "answered"),
                outcome("near", "nothing"),
                outcome("near", "asked back", "zh"),
                outcome("near", "other", "zh"),
            ]
        )
        assert [(row.kind, row.language, row.questions) for row in rows] == [
            ("answerable", "en", 1),
            ("near", "en", 2),
            ("near", "zh", 2),
            ("near", "all", 4),
        ]
        assert list(rows[1].shares.items()) == [
            ("asked back", 0.0), ("answered", 0.0), ("nearest", 0.5), ("nothing", 0.5), ("other", 0.0),
        ]  # fmt: skip
        assert rows[3].shares["asked back"] == rows[3].shares["other"] == 0.25

    def test_places_of_answers(self) -> None:
        rows = place_rows(
            [
                outcome("answerable", "answered", passage=1, own_passage=1, sentence=1),
                outcome("answerable", "answered", passage=5, sentence=4),
                outcome("answerable", "answered", sentence=3),
                outcome("answerable", "nearest", passage=2, own_passage=2),
                outcome("near", "answered", passage=1),
            ]
        )
        assert rows == [
            PlaceRow("all", "en", 4, 0.75, 0.5, 0.25, 0.5),
            PlaceRow("the passage among five", "en", 3, 1.0, 2 / 3, 1 / 3, 1 / 3),
            PlaceRow("answered", "en", 3, 2 / 3, 1 / 3, 1 / 3, 2 / 3),
            PlaceRow("answered, the passage among five", "en", 2, 1.0, 0.5, 0.5, 0.5),
        ]
        assert place_rows([outcome("answerable", "nothing")])[1] == PlaceRow(
            "the passage among five", "en", 0, None, None, None, None
        )

    def test_the_curve(self) -> None:
        scored = [outcome("answerable", "answered", relevance=number / 100) for number in range(50, 150)]
        scored += [outcome("near", "answered", relevance=value) for value in (0.5, 0.505, 0.51, 0.9)]
        # If the site asked back, nothing was judged; if nothing was found, the score is below every threshold.
        scored += [outcome("near", "asked back"), outcome("elsewhere", "nothing"), outcome("objectless", "asked back")]
        points = curve(scored, "relevance")
        assert [point.wrongly for point in points] == [1, 2, 3, 5, 8, 12, 15, 20]
        assert points[0] == CurvePoint(1, 0.51, {"near": 0.5, "elsewhere": 1.0})
        assert points[-1] == CurvePoint(20, 0.7, {"near": 0.75, "elsewhere": 1.0})
        assert curve(scored, "answering") == []

    def test_few_answerable_questions_allow_no_small_percentage(self) -> None:
        scored = [outcome("answerable", "answered", answering=value) for value in (0.4, 0.2, 0.6, 0.8, 1.0)]
        points = curve([*scored, outcome("near", "nearest", answering=0.3)], "answering")
        assert [(point.threshold, point.caught["near"]) for point in points] == [(0.2, 0.0)] * 7 + [(0.4, 1.0)]
        # No threshold calls fewer than this one wrongly.
        assert curve([outcome("answerable", "nothing"), scored[0]], "answering") == []


class TestSets:
    def test_lines_are_questions(self) -> None:
        line = {"id": "a", "kind": "answerable", "language": "zh", "question": "哪天？", "evidence": "五月一日。"}
        read = list(read_questions([json.dumps(line | {"document": "a/b.md", "answers": ["五月"]}), ""]))
        assert read == [Question("a", "answerable", "zh", "哪天？", "a/b.md", ("五月",))]
        behind = json.dumps(line | {"document": "a/b.md", "answers": ["五月"], "earlier": ["What?", "When?"]})
        assert next(read_questions([behind])).earlier == ("What?", "When?")
        assert as_foreign([*read, Question("n", "near", "zh", "?")]) == [Question("a", "foreign", "zh", "哪天？")]

    def test_the_first_of_each_kind_and_language(self) -> None:
        kinds = [("near", "en"), ("near", "zh"), ("near", "en"), ("elsewhere", "en"), ("near", "en")]
        questions = [Question(str(number), *each, "?") for number, each in enumerate(kinds)]
        assert [question.id for question in first_of_each(questions, 2)] == ["0", "2", "1", "3"]

    @pytest.mark.parametrize("file", sorted(DATA.glob("*.jsonl")), ids=lambda file: file.stem)
    def test_stored_sets_are_complete(self, file: Path) -> None:
        text = file.read_text(encoding="utf-8")
        questions = list(read_questions(text.split("\n")))
        assert len({question.id for question in questions}) == len({question.text for question in questions})
        for line, question in zip(text.split("\n"), questions, strict=False):
            assert all(holds(json.loads(line)["evidence"], [answer]) for answer in question.answers)

    @pytest.mark.parametrize("name", ["small-en", "small-zh"])
    def test_invented_documents_contain_their_answers(self, name: str) -> None:
        questions = read_questions((DATA / f"held-{name}.jsonl").read_text(encoding="utf-8").split("\n"))
        for question in questions:
            if question.kind == "answerable":
                assert holds((DATA / name / question.document).read_text(encoding="utf-8"), question.answers)


@pytest.mark.django_db(transaction=True)
class TestCommand:
    def test_every_question_is_a_separate_turn(
        self, handbook: KnowledgeBase, owner: User, sets: dict[str, Path], tmp_path: Path
    ) -> None:
        kept = services.create_session(owner, "Mine")
        out = tmp_path / "out.json"
        rows = run(sets["kit"], foreign=[sets["other"]], json=out)
        assert rows["questions", "language"] == ["n", "asked back", "answered", "nearest", "nothing", "other"]
        assert rows["answerable", "en"] == ["2", "0.000", "1.000", "0.000", "0.000", "0.000"]
        assert rows["answerable", "zh"] == ["1", "0.000", "1.000", "0.000", "0.000", "0.000"]
        assert rows["answerable", "all"][0] == "3"
        assert rows["elsewhere", "en"] == rows["foreign", "en"] == ["1", "0.000", "0.000", "0.000", "1.000", "0.000"]
        assert rows["objectless", "en"] == ["1", "1.000", "0.000", "0.000", "0.000", "0.000"]
        assert rows["near", "en"][0] == "1"
        assert rows["all", "en"] == ["2", "0.500", "0.500", "0.500", "0.500"]
        assert rows["answered, the passage among five", "en"] == ["1", "1.000", "1.000", "1.000", "1.000"]
        written = json.loads(out.read_text(encoding="utf-8"))["questions"]
        assert [each["question"]["text"] for each in written][-1] == SETS["other.jsonl"][0]["question"]
        assert written[0]["sentences"][0] == HANDBOOK[0] and (written[0]["passage"], written[0]["own_passage"]) == (
            1,
            1,
        )
        assert not any("no language model" in sentence for each in written for sentence in each["sentences"])
        assert list(ChatSession.objects.all()) == [kept] and not Turn.objects.exists()

    @pytest.mark.nightly
    def test_earlier_questions_are_asked_in_the_same_chat(
        self, handbook: KnowledgeBase, owner: User, tmp_path: Path
    ) -> None:
        line = {"id": "f", "kind": "near", "language": "en", "question": "And how long does it take?"}
        rows = {}
        for name, earlier in (("first", []), ("later", ["How do I restore the factory settings?"])):
            (tmp_path / f"{name}.jsonl").write_text(json.dumps(line | {"earlier": earlier}), encoding="utf-8")
            rows[name] = run(tmp_path / f"{name}.jsonl")["near", "en"]
        assert rows["first"][1] == "1.000" and rows["later"][1] == "0.000"  # asked back without the earlier questions

    @pytest.mark.nightly
    def test_only_this_base_is_searched(self, handbook: KnowledgeBase, owner: User, sets: dict[str, Path]) -> None:
        index_document(make_knowledge_base(owner, "Art"), ("Leonardo da Vinci painted the Mona Lisa.",))
        assert run(sets["kit"])["elsewhere", "en"][4] == "1.000"

    @pytest.mark.nightly
    def test_table_rows_are_part_of_a_passage(self, owner: User, sets: dict[str, Path]) -> None:
        base = make_knowledge_base(owner, "Handbook")
        document = make_document(base, "handbook.txt")
        fields = {"kind": "table", "table_columns": ["Switch", "Has"], "table_rows": [["TL-SE2109", "nine ports"]]}
        make_chunk(document, "How many ports each switch has.", **fields)
        factories.index_document(document.pk)
        assert run(sets["kit"], limit=1)["all", "en"][:3] == ["1", "1.000", "1.000"]

    @pytest.mark.nightly
    def test_scores_of_the_trace_make_curves(
        self, handbook: KnowledgeBase, sets: dict[str, Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        save = turn_store.save_trace

        def save_scored(turn_id: int, steps: list[dict[str, Any]]) -> None:
            asked = Message.objects.get(turn_id=turn_id, role="user").content
            scores = {"relevance": 0.2 if "fan" in asked else 0.8, "answering": "none"}
            for step in steps:
                if step["key"] == "relevance_gate" and step["status"] != "skipped":
                    step["detail"] = scores
            save(turn_id, steps)

        monkeypatch.setattr(turn_store, "save_trace", save_scored)
        rows = run(sets["kit"])
        assert rows["relevance, en: wrongly below", "threshold"] == ["near", "elsewhere"]
        assert rows["20 %", "0.800"] == ["1.000", "0.000"]
        assert ("answering, en: wrongly below", "threshold") not in rows

    @pytest.mark.nightly
    def test_a_failed_answer_is_neither_found_nor_missed(
        self, handbook: KnowledgeBase, sets: dict[str, Path], fake_llm: FakeLLM
    ) -> None:
        fake_llm.enqueue(NoAnswer())
        sets["kit"].write_text(sets["kit"].read_text(encoding="utf-8").split("\n")[0], encoding="utf-8")
        errors = StringIO()
        rows = run(sets["kit"], stderr=errors)
        assert rows["answerable", "en"] == ["1", "0.000", "0.000", "0.000", "0.000", "1.000"]
        assert "1 answers failed" in errors.getvalue()

    @pytest.mark.nightly
    def test_an_interrupted_run_leaves_nothing(
        self, handbook: KnowledgeBase, sets: dict[str, Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = lifecycle.start_turn

        async def refuse(user: User, ask: lifecycle.Ask) -> lifecycle.Started:
            if "Mona" in ask.question:
                raise TurnRefused("too_many_turns", "4 answers are already being written.")
            return await real(user, ask)

        monkeypatch.setattr(lifecycle, "start_turn", refuse)
        with pytest.raises(CommandError, match="4 answers"):
            run(sets["kit"])
        assert not ChatSession.objects.exists()

    def test_an_interrupted_run_leaves_no_unfinished_session(
        self, handbook: KnowledgeBase, sets: dict[str, Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        create, interrupt = services.create_session, lifecycle.interrupt_all
        calls, ending = count(), threading.Event()

        def create_late(user: User, title: str, ids: list[int]) -> ChatSession:
            if next(calls):
                ending.wait(30)
            return create(user, title, ids)

        async def refuse(user: User, ask: lifecycle.Ask) -> None:
            raise TurnRefused("too_many_turns", "4 answers are already being written.")

        async def interrupt_all() -> None:
            await interrupt()
            ending.set()

        monkeypatch.setattr(services, "create_session", create_late)
        monkeypatch.setattr(lifecycle, "start_turn", refuse)
        monkeypatch.setattr(lifecycle, "interrupt_all", interrupt_all)
        with pytest.raises(CommandError, match="4 answers"):
            run(sets["kit"])
        database_threads.shut_down()
        assert not ChatSession.objects.exists()

    def test_invalid_arguments_are_reported(
        self, handbook: KnowledgeBase, tmp_path: Path, sets: dict[str, Path]
    ) -> None:
        for text, message in (
            ("[1]", "TypeError"),
            ('{"id": "a"}', "'kind'"),
            ('{"id": "a", "kind": "foreign", "language": "en", "question": "?"}', "no known kind"),
            ('{"id": "a", "kind": "answerable", "language": "en", "question": "?", "answers": ["*"]}', "lacks its"),
            ("", "no question"),
        ):
            (tmp_path / "wrong.jsonl").write_text(text, encoding="utf-8")
            with pytest.raises(CommandError, match=message):
                run(tmp_path / "wrong.jsonl")
        with pytest.raises(CommandError, match=r"missing\.jsonl"):
            run(tmp_path / "missing.jsonl")
        with pytest.raises(CommandError, match=r"doesn.t exist"):
            run(sets["kit"], json=tmp_path / "no" / "out.json")
