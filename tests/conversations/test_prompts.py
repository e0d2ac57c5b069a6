"""Prompt templates: checked when saved, filled in one pass, and in the database from the start."""

import pytest

from conversations import prompts
from conversations.default_prompts import DEFAULTS
from conversations.models import PromptTemplate


@pytest.mark.parametrize(("purpose", "language"), DEFAULTS)
def test_the_prompts_a_site_starts_with_are_valid(purpose: str, language: str) -> None:
    for text in DEFAULTS[(purpose, language)]:
        prompts.validate(purpose, text)


@pytest.mark.parametrize(
    ("text", "words"),
    [("{{ secret }}", "secret"), ("{{ question", "matching"), ("{% if x %}", "only"), ("{{}}", "not a variable")],
)
def test_what_would_not_work_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        prompts.validate("answer", text)


def test_json_in_a_prompt_is_no_template() -> None:
    prompts.validate("understand", '{"plan": {"args": {"k": 6}}}')


def test_a_variable_inside_a_document_is_not_filled() -> None:
    prompt = prompts.Prompt("s", "{{ evidence }} | {{ question }}", 1)
    assert prompt.fill(evidence="{{ question }}", question="q")[1] == "{{ question }} | q"


@pytest.mark.django_db
def test_the_database_holds_every_prompt_and_the_active_one_is_used() -> None:
    assert PromptTemplate.objects.filter(active=True).count() == len(DEFAULTS)
    PromptTemplate.objects.filter(purpose="answer", language="en").update(active=False)
    PromptTemplate.objects.create(purpose="answer", language="en", version=2, system="Be brief.", user="{{ question }}")
    assert prompts.get_prompt("answer", "en").system == "Be brief."
    prompts.create_missing()
    assert PromptTemplate.objects.filter(purpose="answer", language="en").count() == 2
