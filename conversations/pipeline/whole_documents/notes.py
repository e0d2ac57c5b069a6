"""Has a model read documents part by part and take notes, which are assigned to the sections they are on.

A part is as many sections as fit the model's window; several parts are read concurrently. While the notes are too long
to answer from, they are condensed in the same way.
"""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from conversations.events import NUMBERS, in_brackets
from conversations.pipeline.whole_documents.sections import SOURCES, Section, merge_neighbours, parts
from conversations.prompts import calibration, side_calls
from conversations.prompts.budget import Window
from conversations.prompts.endpoints import endpoint_for
from conversations.prompts.no_reply import NoReply
from conversations.prompts.passages import numbered_passage
from conversations.prompts.templates import aget_prompt
from ragsite.db import in_database
from ragsite.language.analysis import terms
from ragsite.llm.prompt_tokens import shorten
from ragsite.site_settings.config import config
from retrieval.search import Hit

# The most tokens of a part: the longer a part is, the smaller a share of it a model notes.
LONGEST_PART = 12_000
# How often notes are condensed at most, and how often a part is tried.
ROUNDS, TRIES = 3, 2
# Tokens of the tags and the location around a passage, and the fewest tokens of a useful note and of a part.
FRAME, LEAST_NOTE, LEAST_PART = 48, 24, 200
# Condensing stops if it leaves more than this share.
WORTH = 0.85
# Added to the prompt when notes are to be condensed.
_CONDENSE = {
    "en": "The sections are notes that were taken on them already, and too long together. Keep what matters most to "
    "the request, in a third of their length; of a list keep every item, in fewer words.",
    "zh": "各节已经是先前所做的笔记，但合在一起太长。"
    "请压缩到三分之一左右，保留与要求最相关的内容；列举时保留每一项，只缩减措辞。",
}

_MARKER = re.compile("|".join(in_brackets(rf"\s?{NUMBERS}\s?")))
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_NOTHING = re.compile(r"\W*(?:none|nothing|n/a|无|没有|无相关内容)?\W*", re.IGNORECASE)

# Sections to read, each with the text shown to the model, in groups that are kept together if possible.
Groups = Sequence[Sequence[tuple[Section, str]]]
# Called with the number of parts read, their total, and whether they are notes that are being condensed.
OnPart = Callable[[int, int, bool], Awaitable[None]]


@dataclass(slots=True)
class Notes:
    """Sections with the notes on them, in order; the sections that could not be read, and the cost."""

    taken: list[tuple[Section, str]] = field(default_factory=list)
    failed: list[Section] = field(default_factory=list)
    reason: str = ""  # the slug of `NoReply` for the last failure
    model: str = ""
    parts: int = 0
    calls: int = 0
    rounds: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(slots=True)
class Reader:
    """Takes notes for one question. `hit_of` converts a section to a hit; `language` is the prompt's."""

    question: str
    language: str
    hit_of: Callable[[Section], Hit]
    on_part: OnPart
    notes: Notes = field(default_factory=Notes)

    async def read(self, groups: Groups, room: int) -> Notes:
        """Take notes that fit into `room` tokens of the answering model; raises `NoReply` if none could be taken.

        A part without a usable reply is tried once more; parts that there is no time for count as failed.
        """
        began = asyncio.get_running_loop().time()
        endpoint = await endpoint_for("notes")
        if endpoint is None:
            raise NoReply("no model")
        factor = await in_database(calibration.factor_of, endpoint.model)
        window = Window.of(endpoint.context_window, endpoint.max_tokens, factor)
        prompt = await aget_prompt("notes", self.language)
        taken = sum(map(window.measure, prompt.fill(question=self.question, evidence="")))
        part_room = max(LEAST_PART, min(window.limit - taken, LONGEST_PART))
        async with side_calls.model_for("notes", self.language, config.READ_PART_TIMEOUT, patient=True) as model:
            self.notes.model = model.model
            made = await asyncio.to_thread(_parts, groups, part_room, window)
            self.notes.parts = len(made)
            left = began + config.READ_TIMEOUT
            found, self.notes.failed = await self._round(model, made, left)
            if not found and len(self.notes.failed) == len({section.key for part in made for section, _text in part}):
                raise NoReply(self.notes.reason)
            size, before = await asyncio.to_thread(_size, found, window), math.inf
            while size > room and size < WORTH * before and self.notes.rounds < ROUNDS:
                self.notes.rounds += 1
                made = await asyncio.to_thread(_parts, [[unit] for unit in found], part_room, window)
                condensed, kept = await self._round(model, made, left)
                # Notes that could not be condensed stay as they were; those condensed to nothing are dropped.
                again = {section.key: text for section, text in condensed}
                again |= {section.key: text for section, text in found if section in kept}
                found = [(section, again[section.key]) for section, _text in found if section.key in again]
                size, before = await asyncio.to_thread(_size, found, window), size
        self.notes.taken = await asyncio.to_thread(_fitting, found, room, window)
        return self.notes

    async def _round(
        self, model: side_calls.SideModel, made: Sequence[Sequence[tuple[Section, str]]], until: float
    ) -> tuple[list[tuple[Section, str]], list[Section]]:
        """Return the notes on some parts, and the sections of the parts that could not be read."""
        condenses = bool(self.notes.rounds)
        places = asyncio.Semaphore(config.READ_CONCURRENCY)
        replies: dict[int, dict[int, str] | None] = {}
        done = 0

        async def read(place: int) -> None:
            nonlocal done
            async with places:
                for _attempt in range(TRIES):
                    replies[place] = await self._ask(model, made[place])
                    if replies[place] is not None:
                        break
            done += 1
            await self.on_part(done, len(made), condenses)

        await self.on_part(0, len(made), condenses)
        try:
            async with asyncio.timeout_at(until), asyncio.TaskGroup() as group:
                for place in range(len(made)):
                    group.create_task(read(place))
        except TimeoutError:
            self.notes.reason = "timed out"
        found: dict[int, str] = {}
        failed: dict[int, Section] = {}
        sections = {section.key: section for part in made for section, _text in part}
        for place, part in enumerate(made):
            reply = replies.get(place)
            if reply is None:
                failed |= {section.key: section for section, _text in part}
            for key, text in (reply or {}).items():
                found[key] = f"{found[key]}\n{text}" if key in found else text
        return [(sections[key], text) for key, text in found.items()], list(failed.values())

    async def _ask(self, model: side_calls.SideModel, part: Sequence[tuple[Section, str]]) -> dict[int, str] | None:
        passages = [
            numbered_passage(number, replace(self.hit_of(section), content=text))
            for number, (section, text) in enumerate(part, 1)
        ]
        self.notes.calls += 1
        try:
            also = _CONDENSE[self.language] if self.notes.rounds else ""
            answered = await model.ask((), also, question=self.question, evidence="\n\n".join(passages))
        except NoReply as none:
            self.notes.reason = none.reason
            return None
        if answered.usage is not None:
            self.notes.prompt_tokens += answered.usage.prompt_tokens
            self.notes.completion_tokens += answered.usage.completion_tokens
        return read_notes(answered.text, [section for section, _text in part])


def read_notes(reply: str, sections: Sequence[Section]) -> dict[int, str]:
    """Return the lines of a reply by the key of the section they are on, which it numbers from 1 as [n], in order.

    A line belongs to the first section that it names; a line without a marker, to the one it shares most words with.
    """
    if _NOTHING.fullmatch(reply):
        return {}
    found: dict[int, list[str]] = {}
    before = sections[0].key
    words: dict[int, frozenset[str]] = {}
    for line in reply.splitlines():
        text = _BULLET.sub("", _MARKER.sub("", line)).strip()
        if not any(map(str.isalnum, text)) or line.lstrip().startswith("#") or _NOTHING.fullmatch(text):
            continue
        named = [int(number) for marker in _MARKER.findall(line) for number in re.findall(r"\d+", marker)]
        key = next((sections[number - 1].key for number in named if 0 < number <= len(sections)), None)
        if key is None:
            words = words or {section.key: frozenset(terms(section.content)) for section in sections}
            said = frozenset(terms(text))
            key = max([before, *words], key=lambda key: len(said & words[key]))
        before = key
        found.setdefault(key, []).append(text)
    order = dict.fromkeys(section.key for section in sections)
    return {key: "\n".join(found[key]) for key in order if key in found}


def _size(units: Sequence[tuple[Section, str]], window: Window) -> int:
    return sum(window.measure(text) + FRAME for _section, text in units)


def _fitting(units: Sequence[tuple[Section, str]], room: int, window: Window) -> list[tuple[Section, str]]:
    """Return notes that fit and are no more than an answer may have sources; they are cut if necessary."""
    most = max(1, min(SOURCES, room // (FRAME + LEAST_NOTE)))
    made = merge_neighbours(units, most) if len(units) > most else list(units)
    if _size(made, window) <= room:
        return made
    share = max(1, window.room(room // len(made) - FRAME))
    return [(section, shorten(text, share)) for section, text in made]


def _parts(groups: Groups, room: int, window: Window) -> list[list[tuple[Section, str]]]:
    def measure(text: str) -> int:
        return window.measure(text) + FRAME

    whole = [
        [(section, piece) for section, text in group for piece in _pieces(text, room, measure)] for group in groups
    ]
    return parts(whole, room, measure)


def _pieces(text: str, room: int, measure: Callable[[str], int]) -> list[str]:
    """Return a text in pieces that each fit a part, cut near the middle at a line break, or else at a space."""
    if measure(text) <= room or len(text) < 2:
        return [text]
    middle = len(text) // 2
    at = next((at for mark in ("\n", " ") if (at := text.rfind(mark, middle // 2, middle)) > 0), middle)
    return _pieces(text[:at], room, measure) + _pieces(text[at:], room, measure)
