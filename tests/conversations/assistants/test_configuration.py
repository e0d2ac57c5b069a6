"""What an assistant's configuration takes, and what it refuses by name."""

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


def test_it_is_written_as_it_is_read() -> None:
    read = Configuration.from_dict(WHOLE)
    assert read.settings["RERANK_BLEND"] == {"fused": 1.0, "local": 2.0}
    assert read.prompts == {("answer", "en"): 12}
    assert read.to_dict() == WHOLE
    assert Configuration.from_dict(read.to_dict()) == read
    assert Configuration.from_dict({}).to_dict() == {}


def test_settings_may_be_written_as_variables_have_them() -> None:
    read = Configuration.from_dict({"settings": {"ANSWER_TOP_K": " 8 ", "ENABLE_RERANK": "on"}})
    assert read.settings == {"ANSWER_TOP_K": 8, "ENABLE_RERANK": True}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([], "an object"),
        ({"tempo": 1}, "“tempo” is none of the entries"),
        ({"pipeline": "fast"}, "no pipeline “fast”; there are: default, thorough, quick"),
        ({"settings": {"ANSWER_TOP_K": 101}}, "ANSWER_TOP_K is 101; it must be a whole number"),
        ({"settings": {"MAX_UPLOAD_MB": 1}}, "“MAX_UPLOAD_MB” is no setting that an assistant may have"),
        ({"settings": {"CITATION_VERIFIER": "os.system"}}, "“CITATION_VERIFIER” is no setting"),
        ({"settings": []}, "“settings” takes an object"),
        ({"knowledge_bases": ["3"]}, "“knowledge_bases” takes a list of ids"),
        ({"knowledge_bases": [True]}, "“knowledge_bases” takes a list of ids"),
        ({"prompts": {"answer.fr": 1}}, "“prompts” takes ids"),
        ({"prompts": [1]}, "“prompts” takes ids"),
        ({"models": {"embedding": 1}}, "“models” takes ids"),
        ({"greeting": "x" * 1001}, "“greeting” takes a text of up to 1000"),
        ({"questions": "one"}, "“questions” takes a list"),
        ({"questions": [1]}, "“questions” takes a text"),
    ],
)
def test_what_it_is_not_is_refused_by_name(data: Any, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        Configuration.from_dict(data)
