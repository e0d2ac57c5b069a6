"""Tests of the verifiers of citations: rules, a cross-encoder for entailment, and the chat model."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.checks import run_checks

from conversations.citations import labels
from conversations.citations.statements import Statement
from conversations.citations.verdict import Verdict, check
from conversations.citations.verifiers import Verified, Written, configured
from conversations.citations.verifiers.entailment import Entailment
from conversations.citations.verifiers.judge import Judge, read_judgement
from conversations.citations.verifiers.reader import Reader
from conversations.citations.verifiers.rules import Rules
from conversations.models import ChatSession, Message, TraceStep
from conversations.pipeline.nodes import check_citations as check_node
from conversations.rendering.markdown import Context, Marker, render
from knowledge.models import KnowledgeBase
from ragsite.llm.reranking.reader import forget_readings
from tests.benchmarks.conversations.citations import check_statement
from tests.conversations.conftest import run_turn
from tests.fakes.llm import FakeLLM
from tests.ragsite.llm import cross_encoder, reading_model

VERIFIERS = "conversations.citations.verifiers"
DATA = Path(__file__).parents[1] / "data"
WARRANTY = "The warranty of the fan lasts 36 months. The switch has nine ports and was made by Corvane in Essen."


def written(*texts: str, known: Sequence[str] | None = ("How long is the warranty?",)) -> Written:
    return Written(texts, {1: WARRANTY}, known)


def status(verified: Verified) -> list[str]:
    return [verdict.status for verdict in verified.verdicts]


class TestContradicted:
    """A wrong number in an otherwise right sentence is reported with the source's."""

    @pytest.mark.parametrize(
        ("sentence", "passage", "says"),
        [
            ("The warranty of the fan lasts 24 months.", WARRANTY, {"24 months": "36 months"}),
            ("Late fees are €75 per reminder.", "Late fees are €57 per reminder.", {"75": "€57"}),
            ("逾期每天收取 5 元滞纳金。", "逾期每天收取 3 元滞纳金。", {"5 元": "3 元"}),
            ("The office closes at 5 pm on Fridays.", "The office closes at 3 pm on Fridays.", {"5 pm": "3 pm"}),
        ],
    )
    def test_what_the_source_says(self, sentence: str, passage: str, says: dict[str, str]) -> None:
        verdict = check_statement(Statement(sentence, (1,)), [passage])
        assert (verdict.status, dict(verdict.says)) == ("contradicted", says)
        [problem] = verdict.to_dict()["problems"]
        reason = labels.reason(problem, verdict.status)
        assert reason == f"“{problem['what']}” is contradicted: the source says {problem['says']}."

    @pytest.mark.parametrize(
        ("sentence", "passage"),
        [
            # Either of the two could be meant.
            ("The fan weighs 12 kg.", "The fan weighs 9 kg and the fan weighs 7 kg."),
            ("The warranty of the fan lasts 24 months, says Lindqvist.", WARRANTY),  # not only the number is wrong
        ],
    )
    def test_uncertain_counterparts_are_omitted(self, sentence: str, passage: str) -> None:
        verdict = check_statement(Statement(sentence, (1,)), [passage])
        assert verdict.status == "unclear" and not verdict.says

    def test_old_checks_without_counterparts_are_read(self) -> None:
        assert labels.reason({"kind": "number", "what": "24"}) == "“24” is not in the source in this context."


class TestUncited:
    """Numbers, names and quotations of a sentence without a marker are compared with all passages."""

    def judged(self, text: str, known: Sequence[str] | None = ("Who is Doyle?",)) -> list[tuple[str, str]]:
        return [(verdict.status, verdict.text) for verdict in check(text, {1: WARRANTY}, known)]

    def test_facts_in_no_passage_are_uncited(self) -> None:
        text = "The warranty lasts 36 months [1]. A second fan costs 45 euros. Doyle knows more. Made in Essen."
        assert self.judged(text) == [
            ("supported", "The warranty lasts 36 months."), ("uncited", "A second fan costs 45 euros."),
        ]  # fmt: skip

    @pytest.mark.parametrize(
        "text",
        ["## Part 45 of Brussels", "Do you mean the one of 45 euros?", "Here is what I found.", "```\nprice = 45\n```"],
    )
    def test_sentences_without_facts_are_not_uncited(self, text: str) -> None:
        assert self.judged(text) == []

    def test_uncited_facts_can_be_allowed(self) -> None:
        assert self.judged("A fan costs 45 euros.", known=None) == []
        assert list(check("A fan costs 45 euros.", {}, [])) == []

    def test_sentence_in_another_language_is_judged_by_numbers_only(self) -> None:
        assert self.judged("周立民说保修期是 36 个月。") == []
        assert self.judged("风扇售价 45 欧元。") == [("uncited", "风扇售价 45 欧元。")]

    def test_recall_and_precision_on_an_untuned_set(self) -> None:
        rows = [json.loads(line) for line in (DATA / "unmarked_sentences.jsonl").read_text().splitlines()]
        judged = [
            (row["label"], bool(list(check(row["sentence"], dict(enumerate(row["passages"], 1)), [row["question"]]))))
            for row in rows
        ]
        assert len(judged) == 83
        assert sum(label == "uncited" and found for label, found in judged) >= 28
        assert sum(label == "none" and found for label, found in judged) <= 3

    def test_uncited_sentence_is_marked_in_the_text(self) -> None:
        text = "It lasts 36 months [1]. A **second fan** costs 45 & more."
        [verdict] = [item.to_dict() for item in check("A **second fan** costs 45 & more.", {1: WARRANTY}, [])]
        html = render(text, Context({}, "", labels.uncited([verdict])))
        assert '<span class="doubt uncited"' in html
        assert html.count('<span class="uncited"') == 1 and html.rstrip().endswith(">Uncited</span></p>")
        assert "It lasts" in html.split("doubt uncited")[0]

    def test_uncited_sentences_are_counted_separately(self) -> None:
        checks = [verdict.to_dict() for verdict in check("Nine ports [1]. It costs 45 euros.", {1: WARRANTY}, [])]
        assert labels.summary(checks) == "Citations checked: 1 supported · 1 uncited"
        assert labels.doubts(checks)[0].label == "Uncited" and labels.by_marker(checks).keys() == {1}


@pytest.mark.django_db(transaction=True)
async def test_an_answer_is_shown_with_what_is_uncited_and_contradicted(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    fake_llm.enqueue("The TL-SE2109 switch has twelve ports [1]. It costs 450 euros.")
    await run_turn(owner, session, "How many ports has the TL-SE2109 switch?")
    message = await Message.objects.aget(role="assistant")
    assert [item["status"] for item in message.checks] == ["contradicted", "uncited"]
    assert message.checks[0]["problems"] == [{"kind": "number", "what": "twelve", "says": "nine"}]
    step = await TraceStep.objects.aget(key="check_citations")
    described = check_node.CheckCitations().describe(step.detail)
    assert described is not None and ("Uncited", "1") in described.facts


class TestSetting:
    """`CITATION_VERIFIER` names a class; an invalid one is reported when the site starts."""

    def test_rules_and_the_reader_are_the_default(self) -> None:
        assert type(configured()) is Reader

    @pytest.mark.parametrize("path", ["nowhere.Verifier", "conversations.citations.verdict.Verdict", "json"])
    def test_invalid_verifiers_are_refused(self, settings: Any, path: str) -> None:
        settings.CITATION_VERIFIER = path
        assert "conversations.E006" in [message.id for message in run_checks()]

    @pytest.mark.parametrize("name", ["reader.Reader", "rules.Rules", "entailment.Entailment", "judge.Judge"])
    def test_bundled_verifiers_are_accepted(self, settings: Any, name: str) -> None:
        settings.CITATION_VERIFIER = f"{VERIFIERS}.{name}"
        assert run_checks() == []


class TestReader:
    """The reader judges sentences in other words than their passages."""

    OTHER = "Bread of Corvane is baked from flour [1]."
    REWORDED = "Corvane guarantees that a ventilator works for years [1]."

    @pytest.fixture
    def reader(self, tmp_path: Path, settings: Any) -> None:
        """A reader for which a pair ranks the lower, the more it is about bread."""
        weights = {"bread": -3.0, "flour": -3.0, "45": -3.0, "面包": -9.0}
        settings.READER_MODEL = str(reading_model.write(tmp_path, weights, calibration={"unsupported": -4}))
        settings.ENABLE_READER = True

    @pytest.mark.usefixtures("reader")
    @pytest.mark.parametrize(
        ("sentence", "expected"),
        [
            (OTHER, "not_found"),
            (REWORDED, "unclear"),
            ("Corvane sells cakes [1].", "unclear"),
            ("Corvane made bread, flour and cakes [1].", "not_found"),  # few shared words, but enough for the rules
            ("Corvane gives 45 people bread to eat at lunch [1].", "not_found"),  # a number is missing as well
            ("The switch was made by Corvane, and bread of flour too [1].", "supported"),  # enough shared words
            ("面包很好吃 [1]。", "unclear"),  # in another language than its passage
            ("The switch has 45 ports [1].", "contradicted"),  # by the rules
        ],
    )
    async def test_reader_judges_what_is_in_other_words(self, sentence: str, expected: str) -> None:
        assert status(await Reader().verify(written(sentence))) == [expected]

    @pytest.mark.usefixtures("reader")
    async def test_one_passage_that_supports_is_enough(self) -> None:
        passages = {1: "Nothing about the Corvane is known.", 2: "Bread, flour."}
        text = "Ventilators work for years [1][2]."
        assert status(await Reader().verify(Written([text], passages))) == ["unclear"]
        passages[1] = "Bread and flour."
        assert status(await Reader().verify(Written([text], passages))) == ["not_found"]

    @pytest.mark.usefixtures("reader")
    async def test_sentences_and_time_are_limited(self, settings: Any) -> None:
        settings.CITATION_MODEL_CLAIMS = 1
        verified = await Reader().verify(written(self.OTHER, self.OTHER))
        assert status(verified) == ["not_found", "unclear"] and verified.facts == {"read": 1}
        forget_readings()
        settings.READER_TIMEOUT = 0.0
        verified = await Reader().verify(written(self.OTHER))
        assert status(verified) == ["unclear"] and verified.facts == {"read": 0, "note": "timed_out"}

    @pytest.mark.usefixtures("reader")
    @pytest.mark.parametrize(("name", "value"), [("READER_MODEL", "off"), ("ENABLE_READER", False)])
    async def test_rules_are_kept_without_a_reader(self, settings: Any, name: str, value: Any) -> None:
        setattr(settings, name, value)
        assert status(await Reader().verify(written(self.OTHER))) == ["unclear"]

    async def test_rules_are_kept_with_a_reader_that_fails_or_lacks_a_scale(
        self, tmp_path: Path, settings: Any
    ) -> None:
        settings.ENABLE_READER = True
        settings.READER_MODEL = str(reading_model.write(tmp_path / "other", {"bread": -9.0}))
        assert status(await Reader().verify(written(self.OTHER))) == ["unclear"]
        folder = reading_model.write(tmp_path / "broken", {"bread": -9.0}, calibration={"unsupported": 0})
        (folder / "model.onnx").write_bytes(b"")
        settings.READER_MODEL = str(folder)
        verified = await Reader().verify(written(self.OTHER))
        assert status(verified) == ["unclear"] and verified.facts["note"] == "local_model_not_found"

    def test_unclear_sentences_are_counted_and_not_marked(self) -> None:
        checks = [verdict.to_dict() for verdict in check("Nine ports [1]. Bread is baked [1].", {1: WARRANTY})]
        assert labels.summary(checks) == "Citations checked: 1 supported · 1 unclear"
        assert labels.doubts(checks) == []
        marker = Marker("/1/", "Handbook", tuple(labels.by_marker(checks)[1]))
        assert "doubt" not in render("Nine ports [1]. Bread is baked [1].", Context({1: marker}))
        [_supported, (name, _text, markers, why)] = labels.rows(checks)
        assert (name, markers) == ("Unclear", "[1]")
        assert why == "The source uses other words, so the two could not be compared."


class TestEntailment:
    """A cross-encoder with three labels replaces the rules' verdicts."""

    @pytest.fixture
    def model(self, tmp_path: Path, settings: Any) -> Path:
        """A model whose entailment logit grows with the words that both texts share; the other logits are constant."""
        folder = cross_encoder.write(tmp_path / "nli", classes=3, weights=(2.0, 0.0, 0.0))
        settings.CITATION_ENTAILMENT_MODEL = str(folder)
        return folder

    def label(self, folder: Path, *names: str) -> None:
        (folder / "config.json").write_text(json.dumps({"pad_token_id": 0, "id2label": dict(enumerate(names))}))

    async def test_model_replaces_the_rules(self, model: Path) -> None:
        self.label(model, "ENTAILMENT", "NEUTRAL", "CONTRADICTION")
        verified = await Entailment().verify(written("The switch is the warranty of lunch [1]."))
        assert status(verified) == ["supported"] and verified.facts["by"] == str(model)

    async def test_order_of_labels_is_from_the_model(self, model: Path) -> None:
        self.label(model, "contradiction", "neutral", "entailment")
        assert status(await Entailment().verify(written("The switch has ports, the warranty is the ports [1]."))) == [
            "contradicted"
        ]

    async def test_uncertain_relations_are_not_supported(self, model: Path) -> None:
        self.label(model, "neutral", "entailment", "contradiction")
        [verdict] = (await Entailment().verify(written("The switch has nine ports, the warranty too [1]."))).verdicts
        assert verdict.status == "partly" and verdict.problems == (("model", ""),)

    async def test_further_sentences_are_left_to_the_rules(self, model: Path, settings: Any) -> None:
        self.label(model, "entailment", "neutral", "contradiction")
        settings.CITATION_MODEL_CLAIMS = 1
        text = "The switch, the warranty, the ports [1]. The switch has 45 ports [1]. It costs 450 euros."
        assert status(await Entailment().verify(written(text))) == ["supported", "contradicted", "uncited"]

    async def test_failure_keeps_the_rules_and_is_traced(self, model: Path) -> None:
        self.label(model, "LABEL_0", "LABEL_1", "LABEL_2")
        verified = await Entailment().verify(written("The switch has nine ports [1]."))
        assert status(verified) == ["supported"]
        assert verified.facts["by"] == "rules" and "must include entailment and contradiction" in verified.facts["note"]


@pytest.mark.usefixtures("default_prompts")
class TestJudge:
    """The chat model judges each sentence with a marker."""

    @pytest.fixture
    def model(self, fake_llm: FakeLLM, settings: Any) -> FakeLLM:
        fake_llm.serves = {"judge"}
        settings.FILTER_CONCURRENCY = 1
        return fake_llm

    async def test_model_verdicts_replace_the_rules(self, model: FakeLLM) -> None:
        model.enqueue('{"verdict": "supported", "wrong": "", "source_says": ""}')
        model.enqueue('{"verdict": "contradicted", "wrong": "Oslo", "source_says": "Essen"}')
        verified = await Judge().verify(written("It is guaranteed for three years [1]. It was made in Oslo [1]."))
        assert status(verified) == ["supported", "contradicted"]
        assert verified.verdicts[1].to_dict()["problems"] == [{"kind": "model", "what": "Oslo", "says": "Essen"}]
        assert verified.facts == {"by": "fake-model", "judged": 2}
        assert "<passage" in model.calls[0].messages[1].content and "guaranteed" in model.calls[0].messages[1].content

    async def test_unusable_reply_keeps_the_rules(self, model: FakeLLM) -> None:
        model.enqueue("I can't tell.", '{"verdict": "maybe"}')
        text = "It has nine ports [1]. It has 45 ports [1]."
        verified = await Judge().verify(written(text))
        assert verified.verdicts == await Rules().by_rules(written(text))
        assert verified.facts["judged"] == 0

    async def test_calls_and_time_are_limited(self, model: FakeLLM, settings: Any) -> None:
        settings.CITATION_MODEL_CLAIMS, settings.CITATION_MODEL_TIMEOUT = 1, 0.2
        model.enqueue([60.0])
        verified = await Judge().verify(written("It has nine ports [1]. It has nine ports in all [1]."))
        assert len(model.calls) == 1 and status(verified) == ["supported", "supported"]
        assert verified.facts["by"] == "rules"

    async def test_rules_are_kept_without_a_model(self, model: FakeLLM) -> None:
        model.serves = set()
        verified = await Judge().verify(written("It has nine ports [1]."))
        assert status(verified) == ["supported"] and verified.facts["note"] == "no model"

    def test_words_missing_from_the_sentence_are_not_quoted(self) -> None:
        verdict = Verdict("It hums.", (1,), "supported", 1.0)
        read = read_judgement('{"verdict": "not found", "wrong": "made up"}', verdict)
        assert read is not None and (read.status, read.problems) == ("not_found", (("model", ""),))
