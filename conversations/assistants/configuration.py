"""What a version of an assistant says: read from JSON, checked, and written back; what it leaves open follows the site.

{
  "knowledge_bases": [3, 7],
  "pipeline": "quick",
  "settings": {"ANSWER_TOP_K": 8, "ENABLE_RERANK": true},
  "prompts": {"answer.en": 12},
  "models": {"answer": 4},
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

from conversations.prompts.models import ModelProfile, PromptTemplate
from ragsite import env

LONGEST_GREETING = 1000
LONGEST_QUESTION = 200
MOST_QUESTIONS = 8
# The purposes that an assistant may give a model of its own: all but that of the vectors, which are the site's.
PURPOSES = tuple(purpose for purpose in ModelProfile.Purpose.values if purpose != "embedding")


class ConfigurationError(ValueError):
    """A configuration that can't be used; the message names the entry and what it takes."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """How an assistant answers.

    `knowledge_bases` are what it is asked about, none for whatever the person may read; `settings` are those of the
    table of settings by their names, as values; `prompts` are ids of versions by (purpose, language), and `models` ids
    of model profiles by purpose.
    """

    knowledge_bases: tuple[int, ...] = ()
    pipeline: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    prompts: Mapping[tuple[str, str], int] = field(default_factory=dict)
    models: Mapping[str, int] = field(default_factory=dict)
    greeting: str = ""
    questions: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, data: Any) -> "Configuration":
        """Return what JSON says; raises `ConfigurationError`."""
        if not isinstance(data, dict):
            raise ConfigurationError(_("A configuration is an object with members."))
        known = set(cls.__dataclass_fields__)
        if unknown := sorted(set(data) - known):
            raise ConfigurationError(
                _("“%(name)s” is none of the entries: %(known)s.")
                % {"name": unknown[0], "known": ", ".join(sorted(known))}
            )
        pipeline = _text(data, "pipeline", 60)
        if pipeline and pipeline not in settings.PIPELINES:
            raise ConfigurationError(
                _("There is no pipeline “%(name)s”; there are: %(known)s.")
                % {"name": pipeline, "known": ", ".join(settings.PIPELINES)}
            )
        questions = data.get("questions", [])
        if not isinstance(questions, list) or len(questions) > MOST_QUESTIONS:
            raise ConfigurationError(_("“questions” takes a list of up to %(most)d.") % {"most": MOST_QUESTIONS})
        return cls(
            knowledge_bases=_ids(data.get("knowledge_bases", [])),
            pipeline=pipeline,
            settings=read_settings(data.get("settings", {})),
            prompts=_prompts(data.get("prompts", {})),
            models=_models(data.get("models", {})),
            greeting=_text(data, "greeting", LONGEST_GREETING),
            questions=tuple(_text({"questions": each}, "questions", LONGEST_QUESTION) for each in questions),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, without what is left open."""
        found = {
            "knowledge_bases": list(self.knowledge_bases),
            "pipeline": self.pipeline,
            "settings": dict(self.settings),
            "prompts": {".".join(key): pk for key, pk in self.prompts.items()},
            "models": dict(self.models),
            "greeting": self.greeting,
            "questions": list(self.questions),
        }
        return {name: value for name, value in found.items() if value}


def read_settings(given: Any) -> dict[str, Any]:
    """Return settings that an assistant may have by their names, as values; raises `ConfigurationError`.

    They are given as JSON has them (`8`, `true`), or as the environment's variables would.
    """
    if not isinstance(given, dict):
        raise ConfigurationError(_("“settings” takes an object of settings by their names."))
    found = {}
    for name, value in given.items():
        option = env.option_of(name)
        if option is None or option.live != "assistant":
            raise ConfigurationError(_("“%(name)s” is no setting that an assistant may have.") % {"name": name})
        try:
            found[name] = option.parse(value.strip() if isinstance(value, str) else env.written(value))
        except ImproperlyConfigured as error:
            raise ConfigurationError(str(error)) from None
    return found


def _text(data: Mapping[str, Any], name: str, longest: int) -> str:
    value = data.get(name, "")
    if not isinstance(value, str) or len(value) > longest or "\x00" in value:
        raise ConfigurationError(
            _("“%(name)s” takes a text of up to %(longest)d characters.") % {"name": name, "longest": longest}
        )
    return value.strip()


def _ids(given: Any) -> tuple[int, ...]:
    if not isinstance(given, list) or not all(type(each) is int and each > 0 for each in given):
        raise ConfigurationError(_("“knowledge_bases” takes a list of ids."))
    return tuple(dict.fromkeys(given))


def _prompts(given: Any) -> dict[tuple[str, str], int]:
    found = {}
    for name, pk in given.items() if isinstance(given, dict) else [("", 0)]:
        purpose, _dot, language = name.partition(".")
        if purpose not in PromptTemplate.Purpose.values or language not in ("en", "zh") or type(pk) is not int:
            raise ConfigurationError(_("“prompts” takes ids of versions by purpose and language, as “answer.en”."))
        found[purpose, language] = pk
    return found


def _models(given: Any) -> dict[str, int]:
    if not isinstance(given, dict) or not all(name in PURPOSES and type(pk) is int for name, pk in given.items()):
        raise ConfigurationError(
            _("“models” takes ids of model profiles by purpose: %(known)s.") % {"known": ", ".join(PURPOSES)}
        )
    return dict(given)
