"""Prompt templates: `{{ name }}` variables, checked when saved, filled when used."""

import re
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from conversations.default_prompts import DEFAULTS
from conversations.models import PromptTemplate

VARIABLES: dict[str, set[str]] = {
    "understand": {"question", "history"},
    "rewrite": {"question", "history"},
    "answer": {"question", "evidence"},
    "chat": {"question"},
    "clarify": {"question"},
    "rerank": {"question", "evidence"},
    "filter": {"question", "evidence"},
    "summary": {"history"},
    "title": {"question", "history"},
}

_VARIABLE = re.compile(r"\{\{\s*(.*?)\s*\}\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt ready to be filled."""

    system: str
    user: str
    version: int

    def fill(self, **variables: str) -> tuple[str, str]:
        """Return the system and the user text with their variables replaced."""
        return _fill(self.system, variables), _fill(self.user, variables)


def validate(purpose: str, text: str) -> None:
    """Check a template's variables; raises `ValueError` saying what is wrong and what is allowed."""
    allowed = VARIABLES.get(purpose, set())
    for name in _VARIABLE.findall(text):
        if name not in allowed:
            raise ValueError(
                _("{{ %(name)s }} is not a variable of this prompt. It may use: %(allowed)s.")
                % {"name": name, "allowed": ", ".join(sorted(allowed))}
            )
    rest = _VARIABLE.sub("", text)
    if "{{" in rest or "{%" in rest:
        raise ValueError(_("A “{{” has no matching “}}”, or a template tag is used; only {{ variables }} are known."))


def get_prompt(purpose: str, language: str) -> Prompt:
    """Return the active prompt of a purpose in a language (`"en"` or `"zh"`), or the one the site came with."""
    row = PromptTemplate.objects.filter(purpose=purpose, language=language, active=True).first()
    if row is not None:
        return Prompt(row.system, row.user, row.version)
    system, user = DEFAULTS[(purpose, language)]
    return Prompt(system, user, 0)


def create_missing(**_kwargs: Any) -> None:
    """Store the default prompts that the database lacks, so that the admin has them to edit."""
    present = set(PromptTemplate.objects.values_list("purpose", "language").distinct())
    PromptTemplate.objects.bulk_create(
        [
            PromptTemplate(purpose=purpose, language=language, system=system, user=user)
            for (purpose, language), (system, user) in DEFAULTS.items()
            if (purpose, language) not in present
        ],
        ignore_conflicts=True,
    )


def _fill(template: str, variables: dict[str, str]) -> str:
    """Replace variables in one pass, so that what a document says is never read as a template."""
    return _VARIABLE.sub(lambda match: variables.get(match.group(1), ""), template)
