"""The documents that a question may mean, for its user to choose from."""

import re
from collections.abc import Callable, Iterable, Sequence

from django.utils.translation import gettext as _

from conversations.events import Choice
from knowledge.models import Document
from ragsite.language.analysis import terms
from ragsite.language.content_words import NAMES_NOTHING
from ragsite.language.detection import HAN_CHARACTER
from ragsite.language.questions import question_words
from ragsite.language.simplified import simplified

# The most characters of a reply that only says which document is meant.
_LONGEST = 80
# Replies by place in the list: "the second", "2", 第二个, 最后一份.
_PLACE = re.compile(
    r"(?:the\s+|number\s+|no\.?\s*)?(?:(?P<n>[1-5])|(?P<word>first|second|third|fourth|fifth|last))(?:\s+one)?"
    r"|第?(?:(?P<zh>[一二三四五])|(?P<digit>[1-5]))[个份项条]?|(?P<end>最后)一?[个份项条]?",
    re.IGNORECASE,
)
_WORDS, _NUMERALS = ("first", "second", "third", "fourth", "fifth"), "一二三四五"
# What a reply has beside the name of a document.
_SAID_BESIDE = frozenset(terms("I mean please"))
_SAID_BESIDE_ZH = re.compile(r"[年的那这份个本我要指选是请吧呢啊《》]|[\s，,?？]")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def which_of_several() -> str:
    """Return the question back, in the active language."""
    return _("Several documents fit the name in your question. Which one do you mean?")


def choices_of(documents: Iterable[Document]) -> list[Choice]:
    """Return documents as choices, the newest name first ("2023", "2022"), each with a name of its own."""
    named = distinct_names(documents)
    ordered = sorted(named.items(), key=lambda item: item[1], reverse=True)
    return [Choice(document_id=pk, name=name) for pk, name in ordered]


def distinct_names(documents: Iterable[Document]) -> dict[int, str]:
    """Return documents' names by id: the titles, or if several have the same, paths, or paths with days of upload."""
    documents = list(documents)
    ways: tuple[Callable[[Document], str], ...] = (
        lambda each: each.name,
        lambda each: each.path,
        lambda each: f"{each.path} ({each.created_at:%F})",
    )
    names: dict[int, str] = {}
    for name_of in ways:
        names = {document.pk: name_of(document) for document in documents}
        if len(set(names.values())) == len(names):
            break
    return names


def chosen_by(reply: str, choices: Sequence[Choice]) -> int | None:
    """Return the id of the document that a reply names and nothing else: "2022", "the second one", 2022年的那份.

    None if it names none of them, or several, or says more than that.
    """
    text = simplified(reply).strip(" .。!！")
    if not choices or len(text) > _LONGEST:
        return None
    if (place := _PLACE.fullmatch(text)) is not None:
        number = place["n"] or place["digit"]
        word, numeral = (place["word"] or "").lower(), place["zh"]
        at = -1  # the last
        if number or numeral:
            at = int(number) - 1 if number else _NUMERALS.index(numeral)
        elif word in _WORDS:
            at = _WORDS.index(word)
        return choices[at]["document_id"] if at < len(choices) else None
    said = set(terms(text)) - NAMES_NOTHING - question_words() - _SAID_BESIDE
    bare, years = _YEAR.sub("", _SAID_BESIDE_ZH.sub("", text)), set(_YEAR.findall(text))
    named = []
    for choice in choices:
        name = simplified(choice["name"])
        if HAN_CHARACTER.search(text):
            is_named = bool(bare or years) and bare in name and years <= set(_YEAR.findall(name))
        else:
            is_named = bool(said) and said <= set(terms(re.sub(r"[_.]", " ", name)))
        if is_named:
            named.append(choice["document_id"])
    return named[0] if len(named) == 1 else None
