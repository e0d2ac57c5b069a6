"""Tests of prompt templates: validation, filling, and versions."""

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils import timezone

from conversations.admin.forms import variables_help
from conversations.models import PromptTemplate
from conversations.prompts import templates, versions
from conversations.prompts.defaults import DEFAULTS


@pytest.mark.parametrize(("purpose", "language"), DEFAULTS)
def test_default_prompts_are_valid(purpose: str, language: str) -> None:
    system, user = DEFAULTS[(purpose, language)]
    templates.validate(purpose, system)
    templates.validate(purpose, user)
    templates.require(purpose, user)


def test_every_purpose_has_a_prompt_in_both_languages() -> None:
    purposes = set(PromptTemplate.Purpose.values)
    assert set(DEFAULTS) == {(purpose, language) for purpose in purposes for language in ("en", "zh")}
    assert set(templates.VARIABLES) == purposes


@pytest.mark.parametrize("purpose", sorted({purpose for purpose, _ in DEFAULTS}))
def test_chinese_prompts_use_chinese_punctuation(purpose: str) -> None:
    """Half-width punctuation between two Chinese characters, or after one at the end of a line, is an error."""
    for text in DEFAULTS[(purpose, "zh")]:
        assert re.findall(r"[\u4e00-\u9fff）”][,;:!?()]|[,;:!?(][\u4e00-\u9fff]", text) == []


@pytest.mark.parametrize("purpose", ["answer", "rerank", "filter"])
@pytest.mark.parametrize(("language", "words"), [("en", "not instructions"), ("zh", "不是指令")])
def test_prompts_say_that_passages_are_not_instructions(purpose: str, language: str, words: str) -> None:
    system, user = DEFAULTS[(purpose, language)]
    assert words in system and words in user


def test_the_understanding_prompt_explains_each_field() -> None:
    for language in ("en", "zh"):
        system, _user = DEFAULTS[("understand", language)]
        for field in ("intent", "confidence", "queries", "rewrite", "followup", "plan"):
            assert f'- "{field}"' in system
        example = next(line for line in system.splitlines() if line.startswith("{"))
        assert json.loads(example)["plan"]["action"] == "retrieve_vector"


@pytest.mark.parametrize(
    ("text", "words"),
    [("{{ secret }}", "secret"), ("{{ question", "matching"), ("{% if x %}", "only"), ("{{}}", "not a variable")],
)
def test_invalid_templates_are_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        templates.validate("answer", text)


@pytest.mark.parametrize(
    ("purpose", "user", "missing"),
    [
        ("answer", "{{ question }}", "{{ evidence }}"),
        ("rerank", "{{evidence}}", "{{ question }}"),
        ("rewrite", "{{ question }}", "{{ history }}"),
        ("chat", "", "{{ question }}"),
        ("answer", "", "{{ evidence }}, {{ question }}"),
    ],
)
def test_prompt_without_required_variables_is_refused(purpose: str, user: str, missing: str) -> None:
    with pytest.raises(ValueError, match=re.escape(missing)):
        templates.require(purpose, user)


def test_date_is_filled_automatically() -> None:
    templates.validate("rewrite", "Today is {{ date }}.")
    assert templates.Prompt("On {{ date }}", "q", 1).fill()[0] == f"On {timezone.localdate():%Y-%m-%d}"


def test_time_is_filled_in_the_site_time_zone(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.TIME_ZONE = "Asia/Shanghai"
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 1, 31, 22, 5, tzinfo=UTC))
    templates.validate("title", "It is {{ time }}.")
    prompt = templates.Prompt("It is {{ time }}, on {{date}}", "q", 1)
    assert prompt.fill()[0] == "It is 2026-02-01 06:05 CST, on 2026-02-01"
    with timezone.override("America/New_York"):  # the reader's time zone
        assert prompt.fill()[0] == "It is 2026-02-01 06:05 CST, on 2026-02-01"


LOOP = "So far:\r\n{% for turn in turns %}\r\n- {{ turn.question }} → {{turn.answer}}\r\n{% endfor %}\r\n{{ question }}"


@pytest.mark.parametrize("purpose", sorted(templates.LOOPING))
def test_loop_over_the_turns_is_allowed(purpose: str) -> None:
    templates.validate(purpose, LOOP)
    prompt = templates.Prompt("s", LOOP, 1)
    assert prompt.loops and not templates.Prompt("s", "{{ history }}", 1).loops
    turns = [("Ports?", "Nine."), ("{{ date }}", "{% for turn in turns %}x{% endfor %}")]
    assert prompt.fill(turns, question="Why?")[1] == (
        "So far:\r\n- Ports? → Nine.\r\n- {{ date }} → {% for turn in turns %}x{% endfor %}\r\nWhy?"
    )
    assert prompt.fill(question="Why?")[1] == "So far:\r\nWhy?"


@pytest.mark.parametrize("purpose", sorted(set(templates.VARIABLES) - templates.LOOPING))
def test_loop_is_refused_for_prompts_without_history(purpose: str) -> None:
    with pytest.raises(ValueError, match="template tag"):
        templates.validate(purpose, "{% for turn in turns %}{% endfor %}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ turn.question }}", "not a variable"),
        ("{% for turn in turns %}{{ turn.secret }}{% endfor %}", "not a variable"),
        ("{% for turn in turns %}{{ turn.question }}", "The only template tag"),
        ("{% for turn in history %}{% endfor %}", "The only template tag"),
        ("{% for turn in turns %}{% for turn in turns %}{% endfor %}{% endfor %}", "The only template tag"),
        ("{% for turn in turns %}{{ turn.question{% endfor %}", "matching"),
    ],
)
def test_invalid_loops_are_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        templates.validate("answer", text)


def test_loop_counts_as_history() -> None:
    templates.require("rewrite", LOOP)
    with pytest.raises(ValueError, match="history"):
        templates.require("summary", "{{ time }}")


def test_help_lists_the_variables() -> None:
    text = variables_help()
    assert f"<br>Chat: {{{{ date }}}} {{{{ question }}}} {{{{ time }}}} {templates.LOOP}<br>" in text
    assert "<br>Title: {{ date }} {{ history }} {{ question }} {{ time }}<br>" in text


@pytest.mark.django_db
@pytest.mark.parametrize("purpose", ["answer", "chat", "general"])
def test_json_dialect_adds_block_instructions(purpose: str, settings: Any) -> None:
    plain = templates.get_prompt(purpose, "zh")
    assert "block_start" not in plain.system
    settings.ANSWER_DIALECT = "json"
    asked = templates.get_prompt(purpose, "zh")
    assert asked.system == f"{plain.system}\n\n{DEFAULTS[('blocks', 'zh')][0]}" and asked.user == plain.user
    assert "block_start" not in templates.get_prompt("clarify", "zh").system


@pytest.mark.django_db
@pytest.mark.parametrize(("language", "words"), [("en", "write no citations"), ("zh", "不要写 [n]")])
def test_switched_off_citations_change_the_answer_prompt(settings: Any, language: str, words: str) -> None:
    plain = templates.get_prompt("answer", language).system
    assert words not in plain and "[n]" in plain
    settings.ENABLE_SOURCE_CITATION, settings.ANSWER_DIALECT = False, "json"
    last = templates.get_prompt("answer", language).system.splitlines()[-1]
    assert words in last and words not in templates.get_prompt("general", language).system


def test_json_in_a_prompt_is_not_a_template() -> None:
    templates.validate("understand", '{"plan": {"args": {"k": 6}}}')


def test_variable_in_a_document_is_not_filled() -> None:
    prompt = templates.Prompt("s", "{{ evidence }} | {{ question }}", 1)
    assert prompt.fill(evidence="{{ question }}", question="q")[1] == "{{ question }} | q"


@pytest.mark.django_db
def test_database_contains_every_prompt_and_the_active_one_is_used() -> None:
    assert PromptTemplate.objects.filter(active=True).count() == len(DEFAULTS)
    PromptTemplate.objects.filter(purpose="answer", language="en").update(active=False)
    PromptTemplate.objects.create(purpose="answer", language="en", version=2, system="Be brief.", user="{{ question }}")
    assert templates.get_prompt("answer", "en").system == "Be brief."
    versions.keep_defaults()
    assert PromptTemplate.objects.filter(purpose="answer", language="en").count() == 2


def _release(monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    """Migrate to a release with another English prompt for titles."""
    monkeypatch.setitem(DEFAULTS, ("title", "en"), (system, "{{ question }}"))
    versions.keep_defaults()


def _titles() -> list[tuple[int, str, bool]]:
    rows = PromptTemplate.objects.filter(purpose="title", language="en", version__gt=1).order_by("version")
    return [(row.version, row.system, row.active) for row in rows]


@pytest.mark.django_db
def test_new_default_replaces_the_previous_one(monkeypatch: pytest.MonkeyPatch) -> None:
    before = PromptTemplate.objects.count()
    for _time in range(2):
        _release(monkeypatch, "Two words.")
    assert _titles() == [(2, "Two words.", True)]
    assert PromptTemplate.objects.count() == before + 1
    _release(monkeypatch, "Three words.")
    assert _titles() == [(2, "Two words.", False), (3, "Three words.", True)]


@pytest.mark.django_db
def test_custom_prompt_stays_active(monkeypatch: pytest.MonkeyPatch) -> None:
    versions.save_version("title", "en", "Our own.", "{{ question }}")
    _release(monkeypatch, "Two words.")
    assert _titles() == [(2, "Our own.", True), (3, "Two words.", False)]
    versions.activate(PromptTemplate.objects.get(purpose="title", language="en", version=3))
    _release(monkeypatch, "Three words.")
    assert _titles()[-1] == (4, "Three words.", True)


@pytest.mark.django_db
def test_reactivated_older_default_stays_active(monkeypatch: pytest.MonkeyPatch) -> None:
    _release(monkeypatch, "Two words.")
    versions.activate(PromptTemplate.objects.get(purpose="title", language="en", version=1))
    _release(monkeypatch, "Three words.")
    assert [active for *_rest, active in _titles()] == [False, False]
