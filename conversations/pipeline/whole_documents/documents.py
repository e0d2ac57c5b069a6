"""Finds the documents that a question means, among those that its user may search, and loads their passages."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import F, Func, Q, QuerySet, TextField, Value
from django.db.models.functions import Coalesce, NullIf, Upper
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conversations.events import Choice
from conversations.history import PastTurn
from conversations.models import Citation
from conversations.pipeline.state import Request
from conversations.pipeline.understanding.choices import choices_of, which_of_several
from conversations.pipeline.understanding.named_documents import MOST_FITTING
from conversations.pipeline.understanding.scope import Scope, cited_by, searchable
from conversations.pipeline.whole_documents.requests import WholeRequest, names_in, whole_request
from conversations.pipeline.whole_documents.sections import Passage
from knowledge.models import Chunk, Document
from ragsite.language.simplified import forms, simplified
from ragsite.site_settings.config import config

# The most documents considered whose names appear in a question, and the most named in a list of all documents.
_MOST_NAMED, _MOST_LISTED = 50, 30
_ENDING = re.compile(r"\.\w{1,5}$")


@dataclass(frozen=True, slots=True)
class Meant:
    """The documents to read, the older first if two are compared; or a reply instead, such as a question back.

    `choices` are the documents from which the reply has the user choose one.
    """

    request: WholeRequest
    documents: tuple[Document, ...] = ()
    reply: str = ""
    choices: tuple[Choice, ...] = ()


def meant(request: Request, past: Sequence[PastTurn]) -> tuple[Meant | None, Scope]:
    """Return the whole documents that a question is about, or None for any other question; and the turn's scope.

    Documents are found by their names, by the session's selection, as the one that the last answer cites if the
    question says "the document", as the files added to the chat, or as the only one there is. Replies are in the active
    language.
    """
    scope = searchable(request)
    readable = scope.documents
    named = _named(request.asked, readable)
    wanted = whole_request(request.asked, [*(name for name, _document in named), *scope.named.words])
    if wanted is None:
        return None, scope
    if wanted.kind == "documents":
        return Meant(wanted, reply=_listing(readable)), scope
    documents = _documents(wanted, request, named, readable, scope, past)
    if scope.named.one_is_meant and len(documents) > 1:
        return Meant(wanted, reply=which_of_several(), choices=tuple(choices_of(documents))), scope
    if not documents and wanted.kind == "summary" and wanted.means == "documents" and readable.exists():
        newest = list(readable.order_by("-created_at", "-pk")[: MOST_FITTING + 1])
        reply = _("Which document do you mean?")
        if len(newest) > MOST_FITTING:
            reply = _("Which document do you mean? Choose one of the newest, or give the name of another one.")
        return Meant(wanted, reply=reply, choices=tuple(choices_of(newest[:MOST_FITTING]))), scope
    if not documents:
        return None, scope
    return Meant(wanted, tuple(documents), _refusal(wanted, documents)), scope


def passages_of(documents: Iterable[Document], most_tokens: int) -> tuple[list[Passage], list[Passage]]:
    """Return the documents' passages in order up to `most_tokens`, and the remaining ones without their contents."""
    order = [document.pk for document in documents]
    chunks = Chunk.objects.filter(document_id__in=order).order_by("ordinal")
    heads = chunks.values_list("pk", "document_id", "ordinal", "heading_path", "page_from", "token_count")
    by_document: dict[int, list[Passage]] = {pk: [] for pk in order}
    for pk, document_id, ordinal, path, page, tokens in heads:
        by_document[document_id].append(Passage(pk, document_id, ordinal, "", tuple(path), page, tokens))
    read: dict[int, Passage] = {}
    rest: list[Passage] = []
    # Each document has a share, and the next ones may use what it leaves.
    left = most_tokens
    for place, passages in enumerate(by_document.values()):
        share = left // (len(order) - place)
        for at, passage in enumerate(passages):
            if passage.tokens > share:
                rest += passages[at:]
                break
            share, left = share - passage.tokens, left - passage.tokens
            read[passage.chunk_id] = passage
    last = {passage.document_id: passage.ordinal for passage in read.values()}
    taken = Q(pk__in=[])
    for document_id, ordinal in last.items():
        taken |= Q(document_id=document_id, ordinal__lte=ordinal)
    texts = {
        pk: (
            content,
            columns and tuple(map(str, columns)),
            None if rows is None else tuple(tuple(map(str, row)) for row in rows),
        )
        for pk, content, columns, rows in chunks.filter(taken).values_list(
            "pk", "content", "table_columns", "table_rows"
        )
    }
    whole = [
        Passage(
            each.chunk_id, each.document_id, each.ordinal, texts[each.chunk_id][0], each.path, each.page, each.tokens,
            texts[each.chunk_id][1], texts[each.chunk_id][2],
        )
        for each in read.values()
        if each.chunk_id in texts  # missing if it has just been deleted
    ]  # fmt: skip
    return whole, rest


def _listing(readable: QuerySet[Document]) -> str:
    """Return a reply that lists the documents, or the first of many."""
    ready = readable.filter(status=Document.Status.READY)
    count = ready.count()
    title = ngettext("%(count)d document can be searched here:", "%(count)d documents can be searched here:", count)
    name = Upper(Coalesce(NullIf("title", Value("")), "original_filename"))
    lines = [f"• {document.name}" for document in ready.order_by(name, "pk")[:_MOST_LISTED]]
    if not lines:
        return _("There is nothing to search. Add documents, or change the selection below.")
    if count > len(lines):
        lines.append(
            _("… and %(count)d more. All of them are listed under “Knowledge”.") % {"count": count - len(lines)}
        )
    return title % {"count": count} + "\n\n" + "  \n".join(lines)


def _named(question: str, readable: QuerySet[Document]) -> list[tuple[str, Document]]:
    """Return the documents whose titles or file names appear in a question, each with that name, in its order."""
    stem = Func(F("original_filename"), Value(r"\.[^.]*$"), Value(""), function="regexp_replace")
    text = simplified(" ".join(question.split()))
    other = [(form, character) for character in sorted(set(text)) for form in forms(character) if form != character]
    # The letters of titles that differ in the other script, as those of the question.
    letters = [Value("".join(side)) for side in zip(*other, strict=True)] or [Value("")] * 2
    asked = readable.annotate(
        asked=Value(text, TextField()),
        name_asked=Func("title", *letters, function="translate"),
        stem_asked=Func(stem, *letters, function="translate", output_field=TextField()),
    ).filter(
        Q(asked__icontains=F("name_asked")) & ~Q(title="") | Q(asked__icontains=F("stem_asked")) & ~Q(stem_asked="")
    )
    by_name: dict[str, list[Document]] = {}
    for document in asked.order_by("pk")[:_MOST_NAMED]:
        name = document.original_filename
        for each in dict.fromkeys((document.title, name, _ENDING.sub("", name))):
            by_name.setdefault(each, []).append(document)
    found = names_in(question, by_name)
    return list({document.pk: (name, document) for name in found for document in by_name[name]}.values())


def _documents(
    wanted: WholeRequest,
    request: Request,
    named: Sequence[tuple[str, Document]],
    readable: QuerySet[Document],
    scope: Scope,
    past: Sequence[PastTurn],
) -> list[Document]:
    in_chat = bool(past) and request.session_id is not None
    if in_chat and scope.named.one_is_meant and (last := cited_by(past[-1].turn_id, scope.document_ids)) is not None:
        return list(readable.filter(pk=last))
    if wanted.means == "names" and named:
        return [document for _name, document in named]
    if scope.document_ids:
        return list(readable.order_by("created_at", "pk"))
    pair = 2 if wanted.kind == "changes" else 1
    if wanted.means == "documents" and in_chat:
        cited = Citation.objects.filter(message__turn_id=past[-1].turn_id, cited=True, document__isnull=False)
        ids = set(cited.values_list("document_id", flat=True)[:100])
        mentioned = list(readable.filter(pk__in=ids).order_by("created_at", "pk"))
        if len(ids) == len(mentioned) == pair:
            return mentioned
    if wanted.means == "documents" or (wanted.kind == "summary" and wanted.means == "something"):
        if scope.files_id is not None:
            files = list(readable.filter(knowledge_base=scope.files_id).order_by("created_at", "pk"))
            if len(files) >= pair:
                return files
        only = list(readable.order_by("created_at", "pk")[: pair + 1])
        if len(only) == pair:
            return only
    return []


def _refusal(wanted: WholeRequest, documents: Sequence[Document]) -> str:
    """Return why this number of documents is not read, or an empty string if they are."""
    count = len(documents)
    if wanted.kind == "changes" and count != 2:
        message = ngettext(
            "I need two documents to compare, but there is %(count)d here. Name both, or select them below.",
            "I need two documents to compare, but there are %(count)d here. Name both, or select them below.",
            count,
        )
        return message % {"count": count}
    if count > config.READ_MAX_DOCUMENTS:
        message = _(
            "There are %(count)d documents here, but at most %(most)d can be read in full at once. "
            "Select fewer below, or name them."
        )
        return message % {"count": count, "most": config.READ_MAX_DOCUMENTS}
    return ""
