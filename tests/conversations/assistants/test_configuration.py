"""Tests of reading, writing and validating the configuration of assistants."""

from typing import Any

import pytest

from conversations.assistants.configuration import Configuration, ConfigurationError

WHOLE: dict[str, Any] = {
    "knowledge_bases": [3, 7],
    "pipeline": "quick",
    "settings": {"ANSWER_TOP_K": 8, "ENABLE_RERANK": True, "RERANK_BLEND": {"fused": 1.0, "local": 2.0}},
    "prompts": {"answer.en": 12},
    "models": {"answer": 4},
    "greeting": "Ask me.",
    "questions": ["How many days off are there?"],
}


def test_configuration_round_trip() -> None:
    read = Configuration.from_dict(WHOLE)
    assert read.settings["RERANK_BLEND"] == {"fused": 1.0, "local": 2.0}
    assert read.prompts == {("answer", "en"): 12}
    assert read.to_dict() == WHOLE
    assert Configuration.from_dict(read.to_dict()) == read
    assert Configuration.from_dict({}).to_dict() == {}


def test_settings_accept_the_syntax_of_environment_variables() -> None:
    read = Configuration.from_dict({"settings": {"ANSWER_TOP_K": " 8 ", "ENABLE_RERANK": "on"}})
    assert read.settings == {"ANSWER_TOP_K": 8, "ENABLE_RERANK": True}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "must be a JSON object"),
        ({"tempo": 1}, "“tempo” is not a valid entry"),
        ({"pipeline": "fast"}, "no pipeline “fast”. Available pipelines: default, thorough, quick"),
        ({"settings": {"ANSWER_TOP_K": 101}}, "ANSWER_TOP_K is 101; it must be a whole number"),
        ({"settings": {"MAX_UPLOAD_MB": 1}}, "“MAX_UPLOAD_MB” is not a setting that assistants can change"),
        ({"settings": {"CITATION_VERIFIER": "os.system"}}, "“CITATION_VERIFIER” is not a setting"),
        ({"settings": []}, "“settings” must be an object"),
        ({"knowledge_bases": ["3"]}, "“knowledge_bases” must be a list of ids"),
        ({"knowledge_bases": [True]}, "“knowledge_bases” must be a list of ids"),
        ({"prompts": {"answer.fr": 1}}, "“prompts” must contain ids"),
        ({"prompts": [1]}, "“prompts” must contain ids"),
        ({"models": {"embedding": 1}}, "“models” must contain ids"),
        ({"greeting": "x" * 1001}, "“greeting” must be a text of at most 1000"),
        ({"questions": "one"}, "“questions” must be a list"),
        ({"questions": [1]}, "“questions” must be a text"),
    ],
)
def test_invalid_entries_are_refused_by_name(data: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Configuration.from_dict(data)
