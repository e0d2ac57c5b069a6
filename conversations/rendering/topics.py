"""Topics of documents, worded as questions, without a model: what a new chat and an answer suggest to ask.

A topic is the title of a document or a heading of a section. It ranks by how much the documents say about it: the
name of an author, or "Contains links", is followed by little text, or by text about something else.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from math import log

from django.db.models import QuerySet

from knowledge.chunking.sections import MARK
from knowledge.models import Chunk, Document
from ragsite.language.content_words import content_terms
from ragsite.language.detection import HAN_CHARACTER
from ragsite.language.word_lists import lines_of

# Documents that are looked at, the passages of each if there are several, and all passages.
MOST_DOCUMENTS, FIRST_PASSAGES, MOST_PASSAGES = 12, 40, 400
# A section with fewer characters says too little; one with more isn't worth more.
LEAST_TEXT, MUCH_TEXT = 80, 4_000
# Generic headings, which say nothing about the document.
SECTION_NAMES = frozenset(lines_of("section_names"))

_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|part|appendix)\s+(?:\d[\d.]*|[A-Z]|[IVX]+)\b[.:)]?|\(?\d[\d.]*\)?(?![\w%])|[A-Z]\.\d[\d.]*"
    r"|[（(]?[一二三四五六七八九十]+[、）).]|第\S{1,3}[章节条部篇])[\s:：—–-]*",
    re.IGNORECASE,
)
# Signs of a sentence (its end, commas) or of an entry in a table of contents (dots before a number).
_SENTENCE = re.compile(r"[.!;,。！；，…]\s*$|[。！；，;]|[.!,]\s|\.{3,}|…")
# A heading in which only the first word has a capital letter, as that of a sentence has.
_SENTENCE_CASE = re.compile(r"[A-Z][a-z]+(?: [^A-Z\s]+)+")


@dataclass(slots=True)
class _Section:
    """The passages below a heading of a document, or the whole document below its title."""

    heading: str
    texts: list[str] = field(default_factory=list)

    def weight(self, passages: Collection[str]) -> float:
        """Return how much is said about the heading here and in the document's passages, all in lower case."""
        terms = set(content_terms(self.heading))
        characters = sum(map(len, self.texts))
        if not terms or characters < LEAST_TEXT:
            return 0.0
        said = sum(any(term in text for text in self.texts) for term in terms) / len(terms)
        spread = sum(log(1 + sum(term in text for text in passages)) for term in terms) / len(terms)
        return said * spread * log(min(characters, MUCH_TEXT) / LEAST_TEXT * 2)


def suggested_topics(documents: QuerySet[Document], count: int, besides: Collection[int] = ()) -> list[str]:
    """Return topics of the newest documents, except those of some bases; the weightiest of each base, in turn.

    Makes two queries.
    """
    newest = documents.exclude(knowledge_base__in=besides).order_by("-id")
    of_base: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for base_id, pk, title in newest.values_list("knowledge_base_id", "pk", "title")[:300]:
        of_base[base_id].append((pk, title))
    turns = [each for turn in zip_longest(*of_base.values()) for each in turn if each is not None]
    titles = dict(turns[:MOST_DOCUMENTS])
    rows = Chunk.objects.filter(document__in=titles, kind=Chunk.Kind.TEXT).order_by("ordinal")
    if len(titles) > 1:
        rows = rows.filter(ordinal__lt=FIRST_PASSAGES)
    passages: dict[int, list[tuple[list[str], str]]] = defaultdict(list)
    for pk, path, content in rows.values_list("document_id", "heading_path", "content")[:MOST_PASSAGES]:
        passages[pk].append((path, content))
    ranked: dict[int, list[tuple[int, float, str]]] = defaultdict(list)
    for base_id, held in of_base.items():
        for pk, title in held:
            own = _weighed(title if len(titles) > 1 else "", passages.get(pk, []))
            ranked[base_id] += [(rank, -weight, topic) for rank, (weight, topic) in enumerate(own[:count])]
    found = [[topic for _rank, _weight, topic in sorted(topics)] for topics in ranked.values()]
    return list(dict.fromkeys(topic for turn in zip_longest(*found) for topic in turn if topic))[:count]


def _weighed(title: str, passages: Sequence[tuple[list[str], str]]) -> list[tuple[float, str]]:
    """Return the topics of a document with their weights, best first; the title is one of a short document."""
    if sum(len(content) for _path, content in passages) > MUCH_TEXT:
        title = ""
    outermost = {path[0] for path, _content in passages if path}
    names = outermost if len(outermost) == 1 else set()  # the title as the document has it
    sections: dict[str, _Section] = {}
    lowered: list[str] = []
    for path, content in passages:
        # The text of a small section includes the headings below it.
        parts = re.split(rf"^{re.escape(MARK)}(.*)$", content, flags=re.MULTILINE)
        text = parts[0].casefold()
        lowered.append(content.casefold())
        for heading in {title, *path} - names | {title}:
            sections.setdefault(heading, _Section(heading)).texts.append(text)
        for heading, below in zip(parts[1::2], parts[2::2], strict=True):
            sections.setdefault(heading, _Section(heading)).texts.append(below.casefold())
    found: dict[str, float] = {}
    for heading, section in sections.items():
        topic = without_number(heading)
        if is_topic(topic) and (weight := section.weight(lowered)):
            found[topic] = max(weight, found.get(topic, 0.0))
    return sorted(((weight, topic) for topic, weight in found.items()), reverse=True)


def without_number(heading: str) -> str:
    """Return a heading without its number and its final punctuation."""
    return _NUMBERING.sub("", heading).strip(" .:：。")


def is_topic(heading: str) -> bool:
    """Return whether a heading names a topic, and isn't a sentence, a number or a part that most documents have."""
    letters = [character for character in heading if character.isalpha()]
    is_chinese = any(map(HAN_CHARACTER.match, letters))
    if not (2 if is_chinese else 4) <= len(letters) or 2 * len(letters) < len(heading.replace(" ", "")):
        return False
    if len(heading) > (20 if is_chinese else 50) or len(heading.split()) > 7 or _SENTENCE.search(heading):
        return False
    return "".join(heading.casefold().split() if is_chinese else heading.casefold()) not in SECTION_NAMES


def as_question(topic: str) -> str:
    """Return a question or a request about a topic in its language, as a person would ask it."""
    if topic[-1] in "?？":
        return topic
    if HAN_CHARACTER.search(topic):
        return f"介绍一下{topic}。"
    if topic.casefold().startswith("how to "):
        return f"How do I {topic[len('how to ') :]}?"
    return f"Tell me about {topic[0].lower() + topic[1:] if _SENTENCE_CASE.fullmatch(topic) else topic}."
