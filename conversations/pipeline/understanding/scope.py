"""The documents that a turn may search, and the frequency of the conversation's words in them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, OuterRef, Q, QuerySet

from conversations.models import Citation
from conversations.pipeline.state import Found, Request, State
from conversations.pipeline.understanding.carry_over import Known
from conversations.pipeline.understanding.named_documents import Named, Titled, documents_named, names_a_source
from conversations.pipeline.understanding.rules import context_probe_query, earlier_questions
from knowledge import access
from knowledge.labels import LabelFilter
from knowledge.models import Document, KnowledgeBase
from knowledge.queries import languages_of
from ragsite.language.content_words import content_terms
from ragsite.language.questions import without_frame
from ragsite.site_settings.config import config
from retrieval.engine import fulltext
from retrieval.engine.fulltext import Frequencies
from retrieval.engine.spelling import corrected
from retrieval.ranking.cooccurrence import held_together
from retrieval.ranking.retrievers import in_database_within_timeout


async def known_words(state: State) -> Known:
    """Look up the words of a question and of earlier ones in the documents that may be searched, and their languages.

    Raises `SearchFailed` if the database doesn't answer.
    """
    request, earlier = state.request, earlier_questions(state.past.conversation)
    return await in_database_within_timeout(_of_session, request, earlier)


def look_up(question: str, earlier: Sequence[str], knowledge_base_ids: Sequence[int]) -> Known:
    """Look up the words of a question and of earlier ones (oldest first) in knowledge bases.

    Without earlier questions nothing is looked up, since there is nothing to carry over.
    """
    if not earlier:
        return Known(Frequencies(0, {}))
    wanted = {term for text in (question, *earlier) for term in content_terms(text)}
    frequencies = fulltext.frequencies(wanted, knowledge_base_ids)
    text = context_probe_query(question, earlier, frequencies)
    return Known(frequencies, held_together(text, frequencies) if text else ())


# The most documents whose titles are compared with the name of a source in a question.
_MOST_TITLES = 5_000
_SEARCHABLE = (Document.Status.CHUNKED, Document.Status.INDEXING, Document.Status.READY)
# The most titles of selected documents added to a question that names nothing; more would drown it out.
TITLES = 3


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a turn's search: knowledge bases and, if `document_ids` are given, only these of their documents.

    `labels` narrow it further, except in `files_id`, the base of the files that were added to the chat. `named` are the
    documents that the question names as its source; nothing, if documents were selected.
    """

    knowledge_base_ids: tuple[int, ...]
    document_ids: tuple[int, ...]
    general_knowledge_allowed: bool  # by all of the knowledge bases
    labels: LabelFilter = LabelFilter()  # noqa: RUF009 - it can't be changed
    files_id: int | None = None
    named: Named = Named()  # noqa: RUF009 - it can't be changed

    @property
    def documents(self) -> QuerySet[Document]:
        """The documents that may be searched."""
        found = Document.objects.filter(self.labels.condition, knowledge_base__in=self.knowledge_base_ids)
        return found.filter(pk__in=self.document_ids) if self.document_ids else found


def searchable(request: Request) -> Scope:
    """Return the requested scope, limited to what the user may read now and to the assistant's knowledge bases.

    Without a selection it is everything that the user may read; the files added to the chat are always included. If the
    question names documents as its source ("in the 2022 report"), only they are searched; if it was asked again within
    one of several that fit, only that one.
    """
    person = User(pk=request.user_id)
    is_active = Exists(User.objects.filter(pk=request.user_id, is_active=True))
    bases = access.readable(person).filter(is_active)
    labels, files_id = request.labels, request.files_id
    asked_bases, asked_documents = request.asked_knowledge_base_ids, request.asked_document_ids
    theirs = Document.objects.filter(pk__in=asked_documents)
    if asked_bases:
        bases = bases.filter(pk__in=asked_bases)
    if asked_documents:
        bases = bases.filter(pk__in=theirs.values("knowledge_base_id"))
    if request.knowledge_base_ids:
        bases = bases.filter(pk__in=request.knowledge_base_ids)
    elif not asked_bases and not asked_documents:  # the default without any selection
        bases = bases.filter(pk__in=access.at_hand(person).order_by().values("pk"))
    if request.session_id is not None and files_id is not None:
        own = access.of_chats(person).filter(is_active, pk=files_id).order_by()
        bases = KnowledgeBase.objects.filter(Q(pk__in=bases.order_by().values("pk")) | Q(pk__in=own.values("pk")))
        if asked_documents:
            theirs = Document.objects.filter(Q(pk__in=asked_documents) | Q(knowledge_base_id=files_id))
        labels = replace(labels, besides=(files_id,)) if labels else labels
    asked = ArraySubquery(theirs.filter(knowledge_base=OuterRef("pk")).order_by("pk").values("pk"))
    rows = list(bases.values_list("pk", "answer_from_general_knowledge", asked))
    scope = Scope(
        tuple(pk for pk, _allowed, _ids in rows),
        tuple(pk for _pk, _allowed, ids in rows for pk in ids or ()),  # None if no documents are selected
        config.ANSWER_MODE == "general" and all(allowed for _pk, allowed, _ids in rows),
        labels,
        files_id,
    )
    chosen = request.chosen_document_id
    if (scope.document_ids and chosen is None) or not names_a_source(request.asked):
        return _only(scope, chosen)
    readable = scope.documents.filter(status__in=_SEARCHABLE)
    titles = readable.values_list("pk", "title", "original_filename", "knowledge_base_id")[:_MOST_TITLES]
    of_chat = {pk for pk, *_names, base_id in titles if base_id == files_id}
    named = documents_named(request.asked, (Titled(*each[:3]) for each in titles))
    if named.one_is_meant and (attached := tuple(pk for pk in named.document_ids if pk in of_chat)):
        named = replace(named, document_ids=attached, one_is_meant=len(attached) > 1)
    if chosen is not None:
        return _only(replace(scope, named=replace(named, one_is_meant=False)), chosen)
    return replace(scope, document_ids=named.document_ids, named=named)


def _only(scope: Scope, document_id: int | None) -> Scope:
    """Return a scope limited to one of its documents; unchanged if it hasn't got it, or without one."""
    found = document_id is not None and scope.documents.filter(pk=document_id).exists()
    return replace(scope, document_ids=(document_id,)) if document_id is not None and found else scope


def as_searched(text: str, found: Found) -> str:
    """Return a wording of the question as it is searched: without the name of its source, and spelt correctly.

    A request for all that the documents say about something is searched as that alone.
    """
    return corrected(without_frame(found.named.without(text)), found.spelling)


def cited_by(turn_id: int | None, among: Collection[int]) -> int | None:
    """Return which of some documents the answer of a turn cites; None without a turn, or for none or several."""
    if turn_id is None:
        return None
    cited = Citation.objects.filter(message__turn_id=turn_id, cited=True, document_id__in=among)
    ids = set(cited.values_list("document_id", flat=True))
    return ids.pop() if len(ids) == 1 else None


def _of_session(request: Request, earlier: Sequence[str]) -> Known:
    scope = searchable(request)
    languages = languages_of(scope.knowledge_base_ids, scope.document_ids, scope.labels)
    asked = Document.objects.filter(pk__in=scope.document_ids[:TITLES]) if scope.document_ids else ()
    return replace(
        look_up(request.asked, earlier, scope.knowledge_base_ids),
        languages=frozenset(languages),
        titles=tuple(document.name for document in asked),
    )
