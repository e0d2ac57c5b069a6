"""Prompt templates with `{{ name }}` variables and a loop over earlier turns: validation and filling."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils import timezone
from django.utils.translation import gettext as _

from conversations.prompts import active
from conversations.prompts.defaults import DEFAULTS
from ragsite.site_settings.config import config

# The variables of each purpose's prompt, besides `date` and `time`.
VARIABLES: dict[str, set[str]] = {
    "understand": {"question", "history"},
    "rewrite": {"question", "history"},
    "split": {"question", "history"},
    "missing": {"question", "parts", "evidence"},
    "answer": {"question", "evidence"},
    "chat": {"question"},
    "general": {"question"},
    "clarify": {"question"},
    "rerank": {"question", "evidence"},
    "filter": {"question", "evidence"},
    "judge": {"claim", "evidence"},
    "notes": {"question", "evidence"},
    "summary": {"history"},
    "title": {"question", "history"},
    "blocks": set(),
}
# The variables that the user prompt must contain. They belong there because text from users and documents must not be
# among the instructions of the system prompt.
NEEDED: dict[str, set[str]] = VARIABLES | {"title": {"question"}}
# The date, such as 2026-01-31, and the time, such as 2026-01-31 14:05 CET, in the site's time zone.
_EVERYWHERE = {"date", "time"}
# The purposes that use the conversation's history: their prompts may format its turns with a loop.
LOOPING = {"understand", "rewrite", "split", "answer", "chat", "general", "clarify"}
LOOP = "{% for turn in turns %}{{ turn.question }} {{ turn.answer }}{% endfor %}"
# The additional variables inside a loop.
_OF_A_TURN = {"turn.question", "turn.answer"}
# The purposes whose replies are shown to users, and can be requested as blocks.
_SHOWN = {"answer", "chat", "general"}

# Appended to the answer prompt if sources are not to be cited.
_NO_MARKERS = {
    "en": "Unlike what was said above, write no citations such as [n]: the passages are listed below the answer.",
    "zh": "与上述要求不同：不要写 [n] 之类的引用标注，段落会列在回答下方。",
}

# Appended to prompts of shown replies if a length or a fixed language is set.
_LENGTHS = {
    ("short", "en"): "Keep the answer short: at most three sentences, unless a list or a table is asked for.",
    ("short", "zh"): "回答要简短：除非要求列表或表格，否则不超过三句话。",
    ("detailed", "en"): "Answer in detail: give the conditions, exceptions and steps that belong to it, with headings "
    "or lists where they help.",
    ("detailed", "zh"): "回答要详细：写出相关的条件、例外和步骤，必要时使用标题或列表。",
}
_LANGUAGES = {
    ("en", "en"): "Write the whole answer in English, whatever the language of the question and of the passages.",
    ("en", "zh"): "无论问题和段落使用何种语言，都用英文书写整个回答。",
    ("zh", "en"): "Write the whole answer in Simplified Chinese, whatever the language of the question and of the "
    "passages.",
    ("zh", "zh"): "无论问题和段落使用何种语言，都用简体中文书写整个回答。",
}

_VARIABLE = re.compile(r"\{\{\s*(.*?)\s*\}\}", re.DOTALL)
# A line break after either tag belongs to the tag, so that tags can be on lines of their own.
_LOOP = re.compile(r"\{%\s*for\s+turn\s+in\s+turns\s*%\}(?:\r?\n)?(?P<body>.*?)\{%\s*endfor\s*%\}(?:\r?\n)?", re.DOTALL)
_LOOP_OR_VARIABLE = re.compile(f"{_LOOP.pattern}|{_VARIABLE.pattern}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt ready to be filled."""

    system: str
    user: str
    version: int

    @property
    def repeats(self) -> bool:
        """Whether a variable occurs more than once."""
        names = _VARIABLE.findall(self.system) + _VARIABLE.findall(self.user)
        return len(names) != len(set(names))

    @property
    def loops(self) -> bool:
        """Whether it contains a loop over the turns of the conversation."""
        return bool(_LOOP.search(self.system) or _LOOP.search(self.user))

    def fill(self, turns: Sequence[tuple[str, str]] = (), **variables: str) -> tuple[str, str]:
        """Return the system and user texts with their variables replaced; `date` and `time` are filled automatically.

        `turns` are questions with their answers, oldest first.
        """
        now = timezone.localtime(timezone=timezone.get_default_timezone())
        known = {"date": now.date().isoformat(), "time": f"{now:%Y-%m-%d %H:%M %Z}"} | variables
        return _fill(self.system, known, turns), _fill(self.user, known, turns)


def variables_of(purpose: str) -> list[str]:
    """Return the names of the variables that a purpose's prompt may use, in alphabetical order."""
    return sorted(VARIABLES.get(purpose, set()) | _EVERYWHERE)


def validate(purpose: str, text: str) -> None:
    """Check a template's variables and tags; raises `ValueError` with the problem and the allowed variables."""
    allowed = variables_of(purpose)
    bodies = [found["body"] for found in _LOOP.finditer(text)] if purpose in LOOPING else []
    outside = _LOOP.sub("", text) if purpose in LOOPING else text
    for part, known in ((outside, {*allowed}), *((body, {*allowed, *_OF_A_TURN}) for body in bodies)):
        rest = _VARIABLE.sub("", part)
        if "{%" in rest and purpose in LOOPING:
            raise ValueError(_("The only template tag of this prompt is %(loop)s.") % {"loop": LOOP})
        for name in _VARIABLE.findall(part):
            if name not in known:
                raise ValueError(
                    _("{{ %(name)s }} is not a variable of this prompt. It may use: %(allowed)s.")
                    % {"name": name, "allowed": ", ".join(allowed)}
                )
        if "{{" in rest or "{%" in rest:
            raise ValueError(
                _("A “{{” has no matching “}}”, or a template tag is used; only {{ variables }} are allowed.")
            )


def require(purpose: str, user: str) -> None:
    """Check that a user prompt uses the variables that its purpose needs; raises `ValueError` naming those missing.

    A loop over the turns counts as the history.
    """
    missing = NEEDED.get(purpose, set()) - set(_VARIABLE.findall(user))
    if purpose in LOOPING and _LOOP.search(user):
        missing -= {"history"}
    if missing:
        names = ", ".join(f"{{{{ {name} }}}}" for name in sorted(missing))
        raise ValueError(
            _("The user prompt must contain %(names)s; otherwise the model doesn't get this text.") % {"names": names}
        )


def problems(purpose: str, system: str, user: str) -> dict[str, str]:
    """Return the errors in the texts of a prompt, by field."""
    found: dict[str, str] = {}
    for name, text in (("system", system), ("user", user)):
        try:
            validate(purpose, text)
            if name == "user":
                require(purpose, text)
        except ValueError as error:
            found[name] = str(error)
    return found


def get_prompt(purpose: str, language: str) -> Prompt:
    """Return the active prompt of a purpose in a language (`"en"` or `"zh"`), or the default of the release.

    Instructions that the settings require are appended, see `as_set`.
    """
    return as_set(_active(purpose, language), purpose, language)


async def aget_prompt(purpose: str, language: str) -> Prompt:
    """Return a prompt without the instructions of `as_set`; doesn't query if the setup is pinned."""
    return _prompt(await active.asetup(), purpose, language)


def as_set(prompt: Prompt, purpose: str, language: str) -> Prompt:
    """Return a prompt with the instructions that the settings require: length, language, JSON blocks, no citations."""
    added: list[str] = []
    if purpose in _SHOWN:
        texts = (_LENGTHS.get((config.ANSWER_LENGTH, language)), _LANGUAGES.get((config.ANSWER_LANGUAGE, language)))
        added += [text for text in texts if text]
    if purpose in _SHOWN and config.ANSWER_DIALECT == "json":
        added.append(_active("blocks", language).system)
    if purpose == "answer" and not config.ENABLE_SOURCE_CITATION:
        added.append(_NO_MARKERS[language])
    return replace(prompt, system="\n\n".join([prompt.system, *added]))


def _active(purpose: str, language: str) -> Prompt:
    return _prompt(active.setup(), purpose, language)


def _prompt(setup: active.Setup, purpose: str, language: str) -> Prompt:
    row = setup.prompts.get((purpose, language))
    if row is not None:
        return Prompt(row.system, row.user, row.version)
    system, user = DEFAULTS[(purpose, language)]
    return Prompt(system, user, 0)


def _fill(template: str, variables: dict[str, str], turns: Sequence[tuple[str, str]]) -> str:
    """Replace loops and variables in one pass, so that text from documents is never treated as a template."""

    def filled(match: re.Match[str]) -> str:
        body = match["body"]
        if body is None:
            return variables.get(match[2], "")
        of_turns = ({"turn.question": question, "turn.answer": answer} for question, answer in turns)
        return "".join(_fill(body, variables | of_turn, ()) for of_turn in of_turns)

    return _LOOP_OR_VARIABLE.sub(filled, template)
