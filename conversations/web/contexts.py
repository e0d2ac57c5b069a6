"""Template contexts of the chat's pages, for the views and for live updates by the socket."""

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from conversations import access, queries
from conversations.assistants import choice
from conversations.citations.statements import plain
from conversations.files import chat_files
from conversations.inbox import unseen
from conversations.memory import summaries
from conversations.message_search import passage_with
from conversations.models import ChatSession, ModelProfile, Turn
from conversations.pipeline.writing import extractive_answer
from conversations.prompts.endpoints import profile_endpoint
from conversations.rendering.answer import AnswerPage
from conversations.rendering.topics import as_question, suggested_topics
from conversations.turn_tree import TurnTree
from conversations.turns.example import find_example
from knowledge import access as knowledge_access
from knowledge.labels import LabelFilter
from knowledge.models import Document, KnowledgeBase
from knowledge.web.files import upload_rules
from ragsite.llm.default import default_endpoint, notice_ollama

# Sessions in the sidebar at first and per further page, and the maximum that is sent when it is refreshed.
LISTED_SESSIONS = 100
MOST_LISTED = 1000
# Turns on the page at first, and per request for earlier ones.
SHOWN_TURNS = 20
# Branches in the map of a session.
MAPPED_BRANCHES = 20
SUGGESTIONS = 4
DROP_BASES = 3
# Suggested questions about the sample documents, by file name (`ragsite.runtime.samples`).
SAMPLE_QUESTIONS = {
    "LS-2400 Switch Handbook.pdf": "How long does a firmware update take?",
    "云雀网络员工手册.docx": "年假有多少天？",
}
# Markdown that `plain`, which is for sentences, doesn't remove: rules, the second lines of tables, markers of nested
# lists, and asterisks next to punctuation and Chinese; those in 2*3 and 2 * 3 aren't Markdown.
_MARKS = re.compile(
    r"^[ \t]*(?:[-*_|:][ \t]*){3,}$|^[ \t]*(?:[-*+][ \t]+)+|(?<![\\\w()\[\]])\*+(?=\S)|(?<=[^\s\\])\*+(?![\w()\[\]])"
    r"|(?<=[㐀-鿿])\*+|(?<!\\)\*+(?=[㐀-鿿])",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class SessionGroup:
    """Sessions of one period, each with its search result, if any."""

    name: str
    sessions: list[tuple[ChatSession, "Found | None"]]


@dataclass(frozen=True, slots=True)
class Found:
    """A match of a search in a session: an excerpt with highlighted words, and its URL."""

    html: SafeString
    query: str


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The filter of the session list: search words, and `within` a label (its id) or the `archive`."""

    words: str = ""
    within: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> "Narrowing":
        """Return the filter from a form or a query string."""
        within = given.get("in", "")
        known = within == "archive" or (within.isascii() and within.isdecimal() and len(within) < 19)
        return cls(given.get("q", "").strip(), within if known else "")

    def sessions(self, user: Any) -> QuerySet[ChatSession]:
        """Return the user's sessions that match; words are searched in the archive, too."""
        archived: bool | None = None if self.words else False
        if self.within == "archive":
            archived = True
        label_id = int(self.within) if self.within.isdecimal() else None
        return queries.search_sessions(user, self.words, archived=archived, label_id=label_id)


def age_of(place: queries.Place) -> str:
    """Return the name of the period under which a session is listed."""
    today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    if place.pinned:
        return _("Pinned")
    if place.last_activity_at >= today:
        return _("Today")
    if place.last_activity_at >= today - timedelta(days=1):
        return _("Yesterday")
    return _("This week") if place.last_activity_at >= today - timedelta(days=7) else _("Earlier")


def list_context(
    user: Any,
    current_id: int | None,
    narrowing: Narrowing = Narrowing(),
    *,
    after: queries.Place | None = None,
    shown: int = 0,
) -> dict[str, Any]:
    """Return the context of the session list: its first `shown` sessions, or a page of those `after` a position."""
    sessions = unseen.annotated(queries.with_labels(narrowing.sessions(user)))
    if after is not None:
        sessions = after.following(sessions)
    length = min(max(LISTED_SESSIONS, shown), MOST_LISTED)
    listed = list(sessions[: length + 1])
    more = len(listed) > length
    listed = listed[:length]
    words = queries.split_words(narrowing.words)
    messages = queries.messages_found(listed, words) if words else {}
    groups: dict[str, list[tuple[ChatSession, Found | None]]] = {}
    for session in listed:
        found = None
        if (message := messages.get(session.pk)) is not None:
            marked = [
                format_html("<mark>{}</mark>" if is_word else "{}", piece)
                for piece, is_word in passage_with(plain(_MARKS.sub("", message.content)), words)
            ]
            query = urlencode({"turn": message.turn_id, "find": " ".join(words)})
            found = Found(safe("".join(marked)), f"?{query}#turn-{message.turn_id}")
        groups.setdefault(age_of(queries.Place.of(session)), []).append((session, found))
    return {
        "groups": [SessionGroup(name, members) for name, members in groups.items()],
        "continued": age_of(after) if after is not None else "",
        "more": str(queries.Place.of(listed[-1])) if more else "",
        "longer": shown > LISTED_SESSIONS,
        "narrowing": urlencode({"q": narrowing.words, "in": narrowing.within}),
        "current_id": current_id,
        "words": narrowing.words,
        "within": narrowing.within,
    }


def rail_context(user: Any, current_id: int | None, narrowing: Narrowing = Narrowing(), **place: Any) -> dict[str, Any]:
    """Return the context of the sidebar: the session list and its filters."""
    return list_context(user, current_id, narrowing, **place) | {
        "labels": list(access.labels(user)),
    }


def list_of(user: Any, session_id: int) -> str:
    """Return fragments of the whole session list and of the session's title, for a page that missed changes."""
    session = access.sessions(user).filter(pk=session_id).first()
    context = list_context(user, session_id) | {"session": session, "oob": True}
    return render_to_string("conversations/_sessions.html", context)


def row_of(user: Any, session_id: int, current_id: int | None = None) -> str:
    """Return fragments of one session: its row, which `static/js/sessions.js` moves to its place, and its title.

    With `current_id`, they are for the page of another session. The whole list would be a hundred times as long as
    many an answer.
    """
    session = unseen.annotated(queries.with_labels(access.sessions(user))).filter(pk=session_id).first()
    context: dict[str, Any] = {"session_id": session_id, "session": session, "current_id": current_id or session_id}
    if session is not None:
        context["group"] = age_of(queries.Place.of(session))
    return render_to_string("conversations/_session_news.html", context)


def turns_context(session: ChatSession, turn_id: int | None, *, everything: bool = False) -> dict[str, Any]:
    """Return the context of a branch's turns.

    At most the last `SHOWN_TURNS` are included, unless all are requested or the turn itself would be left out.
    """
    turns = queries.tree(session)
    path = turns.branch(turn_id)
    hidden = 0 if everything or turn_id in path[:-SHOWN_TURNS] else max(0, len(path) - SHOWN_TURNS)
    mapped = branches_context(turns, path)
    views = queries.views(session, turns, path[hidden:], mapped.get("branches", ()))
    answers = [AnswerPage.of(view) for view in views]
    return {
        "session": session,
        "answers": answers,
        "hidden_turns": hidden,
        "summary": summaries.entry_of(session.pk, path),
        "last_turn_id": path[-1] if path else None,
        "newest_turn_id": max(turns.parent, default=0),
        "streaming": any(page.streaming for page in answers),
        **mapped,
    }


def branches_context(turns: TurnTree, path: Sequence[int]) -> dict[str, Any]:
    """Return the context of the map of a session's branches, of which `path` is shown; empty if there is only one.

    Its stretches don't have their questions yet.
    """
    count = len(turns.leaves())
    if count < 2:
        return {}
    left_out = max(0, count - MAPPED_BRANCHES)
    return {"branches": turns.outline(path[-1], MAPPED_BRANCHES), "branch_count": count, "branches_left_out": left_out}


def branches_html(user: Any, session_id: int, turn_id: int | None) -> str:
    """Return the fragment of the map, with the branch through a turn as the one that is shown."""
    session = access.get_session(user, session_id)
    turns = queries.tree(session)
    context = branches_context(turns, turns.branch(turn_id)) | {"session": session, "oob": True}
    queries.views(session, turns, (), context.get("branches", ()))
    return render_to_string("conversations/_branches.html", context)


def earlier_context(session: ChatSession, turn_id: int | None, before: int) -> dict[str, Any]:
    """Return the context of the `SHOWN_TURNS` turns before one of a branch's turns."""
    turns = queries.tree(session)
    path = turns.branch(turn_id)
    end = path.index(before) if before in path else 0
    hidden = max(0, end - SHOWN_TURNS)
    return {
        "session": session,
        "answers": [AnswerPage.of(view) for view in queries.views(session, turns, path[hidden:end])],
        "hidden_turns": hidden,
        "last_turn_id": path[-1] if path else None,
    }


def turns_of(user: Any, session_id: int, turn_id: int) -> tuple[str, list[AnswerPage]]:
    """Return the turns of the branch through a turn for the page, and those still being written."""
    context = turns_context(access.get_session(user, session_id), turn_id)
    html = render_to_string("conversations/_turns.html", context)
    return html, [page for page in context["answers"] if page.streaming]


def parent_html(turn_id: int) -> str:
    """Return the fragment that makes a turn the parent of the next question."""
    return format_html(
        '<input type="hidden" name="parent_turn_id" id="parent-turn" value="{}" hx-swap-oob="true">', turn_id
    )


def safe(html: str) -> SafeString:
    """Mark the output of a template as safe HTML."""
    return mark_safe(html)


def model_name() -> str:
    """Return the name of the model that writes answers, or an empty string when the site only quotes."""
    endpoint = profile_endpoint("answer") or default_endpoint()
    if endpoint is None:
        return ""
    if endpoint.model:
        return endpoint.model
    # Which model an endpoint offers is only known after a request: use the one that wrote last.
    written = Turn.objects.exclude(model__in=["", extractive_answer.MODEL]).order_by("-id")
    return written.values_list("model", flat=True).first() or urlsplit(endpoint.base_url).netloc


def composer_context(user: Any, session: ChatSession) -> dict[str, Any]:
    """Return the context of the line under the composer: the knowledge bases or documents searched, and the model."""
    chosen_bases = session.knowledge_bases.all()
    readable = knowledge_access.readable(user).annotate(
        is_chosen=Exists(chosen_bases.filter(pk=OuterRef("pk"))),
        any_chosen=Exists(chosen_bases),
        any_document=Exists(session.documents.all()),
    )
    bases = list(readable.order_by("name"))
    chosen = {base.pk for base in bases if base.is_chosen}
    chosen_documents = list(session.documents.all()) if any(base.any_document for base in bases) else []
    ids = {base.pk for base in bases}
    documents = [document for document in chosen_documents if document.knowledge_base_id in ids]
    documents.sort(key=lambda document: document.name)
    names = [document.name for document in documents] or [base.name for base in bases if base.pk in chosen]
    conditions = LabelFilter.read((), session.metadata).conditions
    withdrawn = not names and (bool(chosen_documents) or any(base.any_chosen for base in bases))
    shown = [sorted(chosen), [document.pk for document in documents], session.tags, session.metadata, session.folder]
    shown += [withdrawn, session.assistant_id, session.model_id]
    return {
        "session": session,
        "bases": bases,
        "chosen": chosen,
        "documents": documents,
        # Lets a page that reconnects say what it shows.
        "asked": hashlib.blake2s(repr(shown).encode(), digest_size=8).hexdigest(),
        "chosen_bases": [base for base in bases if base.pk in chosen],
        "conditions": conditions,
        "narrowed": bool(chosen_documents or chosen or withdrawn or session.tags or conditions or session.folder),
        "scope": _("Nothing that you may read") if withdrawn else scope_name(bases, names),
        **files_context(user, session),
        **answering_context(user, session),
        "max_question": settings.MAX_QUESTION_CHARACTERS,
        "upload_rules": (rules := upload_rules()),
        "upload_rules_json": json.dumps(rules, ensure_ascii=False),
    }


def composer_news(user: Any, session: ChatSession, files: Collection[int], asked: str) -> list[str]:
    """Return fragments that update a reconnecting page's files and scope.

    `files` are the ids of the files that it shows, and `asked` the key from `composer_context`.
    """
    context = composer_context(user, session)
    present = {document.pk: document for document in context["files"]}
    news = [f'<li id="chat-file-{pk}" hx-swap-oob="delete"></li>' for pk in sorted(set(files) - present.keys())]
    news += [file_chip(user, session, each) for pk, each in present.items() if pk not in files]
    if context["asked"] != asked:
        news.append(render_to_string("conversations/_scope.html", context | {"oob": True}))
    return news


def file_chip(user: Any, session: ChatSession, document: Document) -> str:
    """Return a fragment that adds a file's chip to a page."""
    chip = render_to_string("conversations/_file.html", files_context(user, session, document))
    return format_html('<div hx-swap-oob="beforeend:#chat-files">{}</div>', safe(chip))


def files_context(user: Any, session: ChatSession, only: Document | None = None) -> dict[str, Any]:
    """Return the context of a chat's files, or of one: their progress, and the bases that they can be kept in."""
    files: list[Document] = []
    if session.files_id is not None:
        files = [only] if only is not None else list(chat_files.files_of(session))
    targets = knowledge_access.editable(user).order_by("name") if files else ()
    return {"session": session, "files": files, "file": only, "targets": targets}


def answering_context(user: Any, session: ChatSession) -> dict[str, Any]:
    """Return the assistant and model of a session, and the ones to choose from.

    A list is empty if it would contain nothing else to choose.
    """
    listed = choice.listed(user)
    assistant = next((each for each in listed if each.id == session.assistant_id), None)
    chosen = assistant or (
        next((each for each in listed if each.is_default), None) if not session.assistant_id else None
    )
    own = chosen.profile_id if chosen is not None else None
    profile = ModelProfile.objects.filter(pk=own).first() if own is not None else None
    usual = profile.model if profile is not None else model_name()
    offered = list(choice.offered_profiles().values_list("model", flat=True).distinct())
    written_by = session.model.model if session.model is not None and session.model.offered else ""
    return {
        "assistant": chosen,
        "assistant_gone": session.assistant_id is not None and assistant is None,
        "assistants": listed if len(listed) > 1 or (session.assistant_id and assistant is None) else [],
        "models": list(dict.fromkeys([*filter(None, [usual]), *offered])) if offered else [],
        "usual_model": usual,
        "model": written_by or usual,
    }


def scope_name(bases: Sequence[KnowledgeBase], names: Sequence[str]) -> str:
    """Summarise the sources that a session searches: those with these names, or all knowledge bases."""
    if not bases:
        return _("No documents yet")
    if not names:
        return bases[0].name if len(bases) == 1 else _("All knowledge bases")
    return (
        names[0] if len(names) == 1 else _("%(name)s and %(count)d more") % {"name": names[0], "count": len(names) - 1}
    )


def welcome_context(user: Any, asked: Sequence[Document] = ()) -> dict[str, Any]:
    """Return the context of an empty session: how many documents can be searched, or how to begin."""
    documents = Document.objects.filter(knowledge_base__in=knowledge_access.readable(user))
    searchable = (Document.Status.CHUNKED, Document.Status.INDEXING, Document.Status.READY)
    if asked:
        documents = documents.filter(pk__in=[document.pk for document in asked])
    ready = documents.filter(status__in=searchable)
    samples = ready.filter(original_filename__in=SAMPLE_QUESTIONS)
    bases = dict(samples.values_list("original_filename", "knowledge_base_id"))
    topics = suggested_topics(ready, SUGGESTIONS, besides=() if asked else bases.values())
    own = sample_base(user) if bases and not asked else None
    example, can_be_made = find_example(own) if own is not None else (None, False)
    return {
        "document_count": (count := ready.count()),
        "is_reading": not count and documents.filter(status__in=Document.UNFINISHED).exists(),
        "sample_questions": [question for name, question in SAMPLE_QUESTIONS.items() if name in bases],
        # A file dropped here can go to one of these instead of the chat.
        "drop_bases": () if asked else knowledge_access.editable(user).order_by("-pk")[:DROP_BASES],
        "example": example,
        "makes_example": can_be_made,
        "suggestions": [as_question(topic) for topic in topics],
        "ollama": local_models(user),
        "administrators": administrators(user),
    }


def sample_base(user: Any) -> int | None:
    """Return the id of the user's newest knowledge base of samples, or None."""
    samples = Document.objects.filter(original_filename__in=SAMPLE_QUESTIONS, knowledge_base__owner=user)
    return samples.order_by("-knowledge_base_id").values_list("knowledge_base_id", flat=True).first()


def local_models(user: Any) -> list[str]:
    """Return the models of an Ollama on this machine for users who can connect one, otherwise none."""
    if not user.has_perm("conversations.add_modelprofile") or model_name():
        return []
    return async_to_sync(notice_ollama)()


def administrators(user: Any) -> list[str]:
    """Return a few people who can connect a model, if none is connected and the user can't do so."""
    if user.has_perms(["conversations.add_modelprofile", "conversations.change_modelprofile"]) or model_name():
        return []
    found = User.objects.filter(is_superuser=True, is_staff=True, is_active=True).order_by("pk")
    return [each.get_full_name() or each.get_username() for each in found[:3]]
