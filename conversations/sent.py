"""The messages that a model was sent, as a trace shows them: passages out of the reader's reach are left out."""

import copy
import re
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

# As `evidence.fenced` writes it; a passage can't hold its own end.
_PASSAGE = re.compile(r'(<passage number="(\d+)"[^\n]*>\n)(.*?)(\n</passage>)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Sent:
    """One message: who speaks in it, how long it is, and what it says."""

    speaker: str
    size: str
    text: str


@dataclass(frozen=True, slots=True)
class Sight:
    """What a reader may see of a turn: ids of passages, and numbers of those given to the answer."""

    chunk_ids: frozenset[int]
    numbers: frozenset[int]

    def text(self, text: str) -> str:
        """Return a message without the passages that may not be seen."""

        def shown(match: re.Match[str]) -> str:
            if int(match[2]) in self.numbers:
                return match[0]
            return f"{match[1]}{_('[not available to you]')}{match[4]}"

        return _PASSAGE.sub(shown, text)

    def detail(self, detail: dict[str, Any]) -> dict[str, Any]:
        """Return what a node noted without quotations of passages that may not be seen."""
        seen = copy.deepcopy(detail)
        for message in seen.get("messages", []):
            message["content"] = self.text(message["content"])
        for verdict in seen.get("judged", []):
            if verdict.get("chunk_id") not in self.chunk_ids:
                verdict.update({name: "" for name in ("key_passage", "reason") if name in verdict})
        return seen


def messages(detail: dict[str, Any], sight: Sight) -> list[Sent]:
    """Return the messages of a node's detail, in the order in which they were sent."""
    speakers = {"system": _("System"), "user": _("User"), "assistant": _("Assistant")}
    return [
        Sent(speakers.get(item["role"], item["role"]), _size(item["content"]), sight.text(item["content"]))
        for item in detail.get("messages", [])
    ]


def _size(text: str) -> str:
    count = len(text)
    return ngettext("%(count)d character", "%(count)d characters", count) % {"count": count}
