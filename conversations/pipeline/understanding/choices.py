"""The documents that a question may mean, for its user to choose from."""

from collections.abc import Callable, Iterable

from django.utils.translation import gettext as _

from conversations.events import Choice
from knowledge.models import Document


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
