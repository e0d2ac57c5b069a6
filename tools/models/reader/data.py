"""Training groups: a question with passages that answer it, nearly answer it, or are unrelated.

Comparing passages of the same question forces the model to read them, since the form of the question doesn't show which
of them answers. Therefore each authored question is paired with its passage both with and without the evidence.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tools.models.reader.authored import Passage, Question
from tools.models.reader.search import Embed, Search
from tools.models.reader.texts import headed, sentences, without

# NOT_ANSWERED is for other passages found by a search, which don't answer the question but may be related to it.
UNRELATED, NEAR, ANSWERED, NOT_ANSWERED = 0, 1, 2, 3
CONTRADICTED, NOT_FOUND, SUPPORTED = 0, 1, 2
# The number of passages found by a search that are added to a question's own.
FOUND = 3


@dataclass(frozen=True, slots=True)
class Item:
    """A passage in the reader's input format, with its label.

    `answer` and `evidence` are parts of `text`, or None if unknown, which excludes them from the loss.
    """

    text: str
    label: int
    answer: str | None = None
    evidence: str | None = None


@dataclass(slots=True)
class Group:
    """A question or claim with its passages; `supports` is true if the labels are those of claims."""

    question: str
    lang: str
    source: str
    items: list[Item] = field(default_factory=list)
    supports: bool = False


def authored_groups(
    passages: Sequence[Passage],
    seed: int,
    embed: Embed,
    *,
    near: bool = True,
    copies: int = 1,
    claims: bool = False,
) -> list[Group]:
    """Return groups of authored passages.

    Without `near`, near questions are left out, for files in which their form gives them away. `copies` of a question
    differ in its spelling and passages. Follow-up questions and those without an object are left out, since they have
    no label on their own.
    """
    draw = random.Random(seed)
    groups: list[Group] = []
    pools: dict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        pools[passage.base].append(passage)
    for base, pool in pools.items():
        search = Search(pool, embed)
        for passage in pool:
            for question in passage.questions:
                if question.follows or question.label == "objectless" or (question.label == "near" and not near):
                    continue
                found = [other for other in search.best(question.text, 1 + FOUND) if other is not passage][:FOUND]
                for _ in range(copies):
                    group = _group(passage, question, found, draw)
                    # Passages of a base are more or less related; otherwise an unrelated one is drawn.
                    if not base and (other := draw.choice(pool)) is not passage and other not in found:
                        group.items.append(Item(_headed(other, draw), UNRELATED))
                    groups.append(group)
            if claims:
                groups += _claims(passage, pool, draw)
    return groups


def _group(passage: Passage, question: Question, found: Iterable[Passage], draw: random.Random) -> Group:
    title = passage.title if draw.random() < 0.75 else ""
    group = Group(_as_typed(question.text, draw), passage.group_of(question), passage.source)
    answered = question.label == "answered"
    items = [Item(headed(title, passage.text), ANSWERED if answered else NEAR, question.answer, question.evidence)]
    if answered and question.evidence and (rest := without(passage.text, question.evidence)):
        items.append(Item(headed(title, rest), NEAR))
    # Also remove an irrelevant sentence, so that gaps in a text give nothing away.
    if draw.random() < 0.4 and (spared := _without_another(passage.text, question.evidence, draw)):
        items.append(Item(headed(title, spared), items[0].label, question.answer, question.evidence))
    group.items = items + [Item(_headed(other, draw), NOT_ANSWERED) for other in found]
    return group


def _headed(passage: Passage, draw: random.Random) -> str:
    return headed(passage.title if draw.random() < 0.75 else "", passage.text)


def _as_typed(question: str, draw: random.Random) -> str:
    """Return a question as people type it: sometimes without a question mark, or in lower case."""
    if draw.random() < 0.3:
        question = question.rstrip("?？ ")
    return question.lower() if draw.random() < 0.15 else question


def _without_another(text: str, evidence: str | None, draw: random.Random) -> str | None:
    parts = [text[start:end].strip() for start, end in sentences(text)]
    free = [part for part in parts if len(part) > 15 and not (evidence and (part in evidence or evidence in part))]
    rest = without(text, draw.choice(free)) if free else None
    return rest if rest and (not evidence or evidence in rest) else None


def _claims(passage: Passage, others: Sequence[Passage], draw: random.Random) -> list[Group]:
    labels = {"supported": SUPPORTED, "contradicted": CONTRADICTED, "not_found": NOT_FOUND}
    groups = []
    for claim in passage.claims:
        items = [Item(headed(passage.title, passage.text), labels[claim.label])]
        if (other := draw.choice(others)) is not passage:
            items.append(Item(headed(other.title, other.text), NOT_FOUND))
        groups.append(Group(claim.text, passage.lang, passage.source, items, supports=True))
    return groups
