"""Comparison of two documents: sections aligned by their headings, and the sentences that changed. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from conversations.pipeline.whole_documents.sections import Section, lines_of

# The similarity from which a sentence counts as a new wording of another, and a section as another with a new heading.
SAME_SENTENCE, SAME_HEADING = 0.5, 0.8
# The most replaced sentences that are compared each with each; longer runs are compared in order.
COMPARED = 40

_NUMBERED = re.compile(r"^[\s§第]*[\d一二三四五六七八九十]+(?:[.．]\d+)*[.)、章节条]*\s*(?=\S)")


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence and the section that contains it."""

    text: str
    section: Section


@dataclass(frozen=True, slots=True)
class Change:
    """A sentence of the older document and its replacement in the newer one; either may be missing."""

    old: Said | None
    new: Said | None


@dataclass(slots=True)
class Changed:
    """The changes under one heading."""

    heading: str
    changes: list[Change] = field(default_factory=list)

    @property
    def sections(self) -> list[Section]:
        """The sections that contain them, the older document's first."""
        sides = ([change.old for change in self.changes], [change.new for change in self.changes])
        return list({said.section.key: said.section for side in sides for said in side if said is not None}.values())


@dataclass(slots=True)
class Comparison:
    """The headings and sections that only the older (`removed`) or the newer document (`added`) has, and the `changed`.

    `unchanged` is the number of headings with the same text in both.
    """

    changed: list[Changed] = field(default_factory=list)
    removed: list[tuple[str, list[Section]]] = field(default_factory=list)
    added: list[tuple[str, list[Section]]] = field(default_factory=list)
    unchanged: int = 0

    @property
    def same(self) -> bool:
        """Whether the documents are the same."""
        return not (self.changed or self.removed or self.added)


@dataclass(slots=True)
class _Heading:
    path: tuple[str, ...]
    said: list[Said] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.path[-1] if self.path else ""

    @property
    def sections(self) -> list[Section]:
        return list({said.section.key: said.section for said in self.said}.values())


def compare(old: Sequence[Section], new: Sequence[Section]) -> Comparison:
    """Compare two documents by the text under their headings, which may have been renumbered or reworded."""
    result = Comparison()
    before, after = _headings(old), _headings(new)
    partner = _aligned(before, after)
    taken = {id(other) for other in partner.values()}
    for heading in before:
        other = partner.get(id(heading))
        if other is None:
            result.removed.append((heading.name, heading.sections))
            continue
        one, two = ([said.text for said in each.said] for each in (heading, other))
        changes: list[Change] = []
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
            if tag != "equal":
                changes += _replaced(heading.said[i1:i2], other.said[j1:j2])
        if changes:
            result.changed.append(Changed(other.name or heading.name, changes))
        else:
            result.unchanged += 1
    result.added = [(heading.name, heading.sections) for heading in after if id(heading) not in taken]
    return result


def _headings(sections: Iterable[Section]) -> list[_Heading]:
    found: dict[tuple[str, ...], _Heading] = {}
    for section in sections:
        for passage in section.passages:
            heading = found.setdefault(passage.path, _Heading(passage.path))
            heading.said += [Said(text, section) for text in lines_of(passage)]
    return [heading for heading in found.values() if heading.said]


def _aligned(before: Sequence[_Heading], after: Sequence[_Heading]) -> dict[int, _Heading]:
    """Return the newer document's counterpart of each of the older one's headings, by the `id()` of the latter.

    Equal paths are matched first, then paths and names that are equal except for numbers, then the most similar by name
    or text.
    """
    partner: dict[int, _Heading] = {}
    left, right = list(before), list(after)
    for key in (
        lambda heading: heading.path,
        lambda heading: tuple(map(_bare, heading.path)),
        lambda heading: _bare(heading.name),
    ):
        waiting: dict[object, list[_Heading]] = {}
        for heading in right:
            waiting.setdefault(key(heading), []).append(heading)
        for heading in list(left):
            if others := waiting.get(key(heading)):
                other = others.pop(0)
                partner[id(heading)] = other
                left.remove(heading)
                right.remove(other)
    for heading in left:
        closest = max(right, key=lambda other: _similarity(heading, other), default=None)
        if closest is not None and _similarity(heading, closest) >= SAME_HEADING:
            partner[id(heading)] = closest
            right.remove(closest)
    return partner


def _similarity(one: _Heading, other: _Heading) -> float:
    """Return the similarity of two headings, from 0 to 1: the greater one of their names and of their texts."""
    texts = [{said.text for said in heading.said} for heading in (one, other)]
    shared = len(texts[0] & texts[1]) / max(1, min(map(len, texts)))
    names = (_bare(one.name), _bare(other.name))
    return max(shared, SequenceMatcher(None, *names, autojunk=False).ratio() if all(names) else 0.0)


def _bare(name: str) -> str:
    return " ".join(_NUMBERED.sub("", name).casefold().split()) or name


def _replaced(old: Sequence[Said], new: list[Said]) -> Iterable[Change]:
    """Pair old sentences with similar new ones, in order; the others were removed or added."""
    each_with_each = len(old) <= COMPARED and len(new) <= COMPARED
    for said in old:
        candidates = new if each_with_each else new[:1]
        closest = max(candidates, key=lambda other: _ratio(said.text, other.text), default=None)
        if closest is None or _ratio(said.text, closest.text) < SAME_SENTENCE:
            yield Change(said, None)
            continue
        at = new.index(closest)
        yield from (Change(None, other) for other in new[:at])
        yield Change(said, closest)
        del new[: at + 1]
    yield from (Change(None, other) for other in new)


def _ratio(one: str, other: str) -> float:
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return (
        matcher.ratio()
        if matcher.real_quick_ratio() >= SAME_SENTENCE and matcher.quick_ratio() >= SAME_SENTENCE
        else 0.0
    )
