"""Export of an assistant to a readable file, and import on this site or another.

Knowledge bases, prompts and models are written as names and texts, because their ids differ between sites. API keys of
models are not exported. An import skips what the site does not have, and returns a list of it.
"""

import json
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from conversations.assistants.choice import save_version
from conversations.assistants.configuration import Configuration, ConfigurationError
from conversations.models import Assistant, AssistantVersion, ModelProfile, PromptTemplate
from conversations.prompts import templates
from knowledge import access
from knowledge.models import KnowledgeBase
from ragsite.llm.stream.json_safe import json_safe

FORMAT = "ragsite-assistant/1"
MOST_BYTES = 1024 * 1024
_PROMPT_FIELDS = ("purpose", "language", "system", "user")


def written(version: AssistantVersion) -> str:
    """Return a version of an assistant as JSON; raises `ConfigurationError` if its configuration is invalid."""
    found = Configuration.from_dict(version.configuration)
    bases = KnowledgeBase.objects.in_bulk(found.knowledge_bases)
    prompts = PromptTemplate.objects.in_bulk(found.prompts.values())
    models = ModelProfile.objects.in_bulk(found.models.values())
    data = {
        "format": FORMAT,
        "name": version.assistant.name,
        "description": version.assistant.description,
        "version": version.number,
        **found.to_dict(),
        "knowledge_bases": [bases[pk].name for pk in found.knowledge_bases if pk in bases],
        "prompts": [
            {"purpose": row.purpose, "language": row.language, "system": row.system, "user": row.user}
            for pk in found.prompts.values()
            if (row := prompts.get(pk)) is not None
        ],
        "models": {
            purpose: {"model": profile.model, "base_url": profile.base_url}
            for purpose, pk in found.models.items()
            if (profile := models.get(pk)) is not None
        },
    }
    return json.dumps({name: value for name, value in data.items() if value}, ensure_ascii=False, indent=2) + "\n"


@transaction.atomic
def read(text: str, user: Any) -> tuple[Assistant, list[str]]:
    """Create a disabled assistant from a file, under another name if its name is taken; also return what is missing.

    Raises `ConfigurationError` if the file is invalid; nothing is stored then.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(_("The file is not valid JSON: %(why)s") % {"why": error}) from None
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        raise ConfigurationError(
            _("The file does not contain an assistant: “format” is not “%(format)s”.") % {"format": FORMAT}
        )
    if json_safe(data) != data:
        raise ConfigurationError(
            _("The file contains values that can't be stored, such as null characters or unpaired surrogates.")
        )
    name, description = data.pop("name", ""), data.pop("description", "")
    data.pop("version", None)
    if not isinstance(name, str) or not name.strip() or not isinstance(description, str):
        raise ConfigurationError(_("The assistant has no name."))
    missing: list[str] = []
    bases = data.get("knowledge_bases", [])
    names = [each for each in bases if isinstance(each, str)] if isinstance(bases, list) else []
    ids = dict(access.readable(user).filter(name__in=names).order_by("-pk").values_list("name", "pk"))
    missing += [_("knowledge base “%(name)s”") % {"name": each} for each in names if each not in ids]
    data["knowledge_bases"] = [ids[each] for each in names if each in ids]
    models = data.get("models", {})
    data["models"] = {}
    for purpose, named in models.items() if isinstance(models, dict) else ():
        model = str(named.get("model", "")) if isinstance(named, dict) else str(named)
        profile = ModelProfile.objects.filter(purpose=purpose, model=model).first()
        if profile is not None:
            data["models"][purpose] = profile.pk
        else:
            missing.append(_("model “%(name)s” for “%(purpose)s”") % {"name": model, "purpose": purpose})
    data["prompts"] = _prompts(data.get("prompts", []))
    found = Configuration.from_dict(data)
    assistant = Assistant.objects.create(name=free_name(name.strip()), description=description[:300], enabled=False)
    save_version(assistant, found, user)
    return assistant, missing


def free_name(name: str) -> str:
    """Return a name that no assistant has: the given name, or the name followed by a number."""
    name, number = name[:110], 1
    made = name
    while Assistant.objects.filter(name=made).exists():
        number += 1
        made = f"{name} {number}"
    return made


def _prompts(given: Any) -> dict[str, int]:
    """Return the ids of prompts with these texts; new texts are stored as inactive versions."""
    found: dict[str, int] = {}
    for each in given if isinstance(given, list) else [given]:
        if not isinstance(each, dict) or not all(isinstance(each.get(name), str) for name in _PROMPT_FIELDS):
            raise ConfigurationError(
                _("“prompts” must be a list of prompts with “purpose”, “language”, “system” and “user”.")
            )
        texts: dict[str, str] = {name: each[name] for name in _PROMPT_FIELDS}
        purpose, language = texts["purpose"], texts["language"]
        if problems := templates.problems(purpose, texts["system"], texts["user"]):
            raise ConfigurationError(next(iter(problems.values())))
        row = PromptTemplate.objects.filter(**texts).first()
        if row is None:
            family = PromptTemplate.objects.filter(purpose=purpose, language=language)
            version = (family.aggregate(newest=Max("version"))["newest"] or 0) + 1
            row = PromptTemplate.objects.create(**texts, version=version, active=False)
        found[f"{purpose}.{language}"] = row.pk
    return found
