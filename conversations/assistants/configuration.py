"""The configuration of an assistant version, read from JSON and validated; missing entries follow the site.

{
  "knowledge_bases": [3, 7],
  "pipeline": "quick",
  "settings": {"ANSWER_TOP_K": 8, "ENABLE_RERANK": true},
  "prompts": {"answer.en": 12},
  "models": {"answer": 4},
  "instructions": "Answer in at most two sentences.",
  "greeting": "Ask me about the handbook.",
  "questions": ["How many days off are there?"]
}
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext as _

from conversations.instructions.texts import LONGEST_INSTRUCTIONS
from conversations.prompts.models import ModelProfile, PromptTemplate
from ragsite import env

LONGEST_GREETING = 1000
LONGEST_QUESTION = 200
MOST_QUESTIONS = 8
# The purposes for which an assistant may have its own model: all but embedding, because vectors are the site's.
PURPOSES = tuple(purpose for purpose in ModelProfile.Purpose.values if purpose != "embedding")


class ConfigurationError(ValueError):
    """An invalid configuration; the message names the entry and its valid values."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """The configuration of an assistant.

    `knowledge_bases` are the ids of the bases it searches, empty for all that the user may read; `settings` are parsed
    values by name; `prompts` are ids of prompt versions by (purpose, language), and `models` ids of model profiles by
    purpose; `instructions` say how it should answer.
    """

    knowledge_bases: tuple[int, ...] = ()
    pipeline: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    prompts: Mapping[tuple[str, str], int] = field(default_factory=dict)
    models: Mapping[str, int] = field(default_factory=dict)
    instructions: str = ""
    greeting: str = ""
    questions: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, data: Any) -> "Configuration":
        """Return the configuration from parsed JSON; raises `ConfigurationError`."""
        if not isinstance(data, dict):
            raise ConfigurationError(_("A configuration must be a JSON object."))
        known = set(cls.__dataclass_fields__)
        if unknown := sorted(set(data) - known):
            raise ConfigurationError(
                _("“%(name)s” is not a valid entry. Valid entries: %(known)s.")
                % {"name": unknown[0], "known": ", ".join(sorted(known))}
            )
        pipeline = _text(data, "pipeline", 60)
        if pipeline and pipeline not in settings.PIPELINES:
            raise ConfigurationError(
                _("There is no pipeline “%(name)s”. Available pipelines: %(known)s.")
                % {"name": pipeline, "known": ", ".join(settings.PIPELINES)}
            )
        questions = data.get("questions", [])
        if not isinstance(questions, list) or len(questions) > MOST_QUESTIONS:
            raise ConfigurationError(_("“questions” must be a list of at most %(most)d.") % {"most": MOST_QUESTIONS})
        ids = data.get("knowledge_bases", [])
        if not isinstance(ids, list) or not all(type(each) is int and each > 0 for each in ids):
            raise ConfigurationError(_("“knowledge_bases” must be a list of ids."))
        return cls(
            knowledge_bases=tuple(dict.fromkeys(ids)),
            pipeline=pipeline,
            settings=read_settings(data.get("settings", {})),
            prompts=_prompts(data.get("prompts", {})),
            models=_models(data.get("models", {})),
            instructions=_text(data, "instructions", LONGEST_INSTRUCTIONS),
            greeting=_text(data, "greeting", LONGEST_GREETING),
            questions=tuple(_text({"questions": each}, "questions", LONGEST_QUESTION) for each in questions),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as JSON-safe data, without empty entries."""
        found = {
            "knowledge_bases": list(self.knowledge_bases),
            "pipeline": self.pipeline,
            "settings": dict(self.settings),
            "prompts": {".".join(key): pk for key, pk in self.prompts.items()},
            "models": dict(self.models),
            "instructions": self.instructions,
            "greeting": self.greeting,
            "questions": list(self.questions),
        }
        return {name: value for name, value in found.items() if value}


def read_settings(given: Any) -> dict[str, Any]:
    """Return an assistant's settings as parsed values by name; raises `ConfigurationError`.

    Values are those of JSON (`8`, `true`), or strings as in environment variables.
    """
    if not isinstance(given, dict):
        raise ConfigurationError(_("“settings” must be an object with the names and values of settings."))
    found = {}
    for name, value in given.items():
        option = env.option_of(name)
        if option is None or option.live != "assistant":
            raise ConfigurationError(_("“%(name)s” is not a setting that assistants can change.") % {"name": name})
        try:
            found[name] = option.parse(value.strip() if isinstance(value, str) else env.written(value))
        except ImproperlyConfigured as error:
            raise ConfigurationError(str(error)) from None
    return found


def _text(data: Mapping[str, Any], name: str, longest: int) -> str:
    value = data.get(name, "")
    if not isinstance(value, str) or len(value) > longest or "\x00" in value:
        raise ConfigurationError(
            _("“%(name)s” must be a text of at most %(longest)d characters.") % {"name": name, "longest": longest}
        )
    return value.strip()


def _prompts(given: Any) -> dict[tuple[str, str], int]:
    found = {}
    for name, pk in given.items() if isinstance(given, dict) else [("", 0)]:
        purpose, _dot, language = name.partition(".")
        if purpose not in PromptTemplate.Purpose.values or language not in ("en", "zh") or type(pk) is not int:
            raise ConfigurationError(
                _("“prompts” must contain ids of prompt versions by purpose and language, such as “answer.en”.")
            )
        found[purpose, language] = pk
    return found


def _models(given: Any) -> dict[str, int]:
    if not isinstance(given, dict) or not all(name in PURPOSES and type(pk) is int for name, pk in given.items()):
        raise ConfigurationError(
            _("“models” must contain ids of model profiles by purpose: %(known)s.") % {"known": ", ".join(PURPOSES)}
        )
    return dict(given)
