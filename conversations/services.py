"""What people do with their sessions and answers, apart from asking."""

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import chain, count
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.postgres.expressions import ArraySubquery
from django.db import IntegrityError, transaction
from django.db.models import Case, F, OuterRef, Q, Value, When
from django.utils import timezone
from django.utils.translation import gettext as _

from conversations import access, turn_store
from conversations.groups import tell_pages
from conversations.models import ChatLabel, ChatSession, Feedback, Message
from knowledge import access as knowledge_access
from knowledge.labels import LabelFilter
from knowledge.models import KnowledgeBase
from ragsite.audit.log import record
from ragsite.models import AuditEntry

TITLE_LENGTH = 200
# Tags, and what fields have to be.
Labels = tuple[Iterable[str], Mapping[str, Any]]
NO_LABELS: Labels = ((), {})


@transaction.atomic
def create_session(
    user: Any,
    title: str = "",
    knowledge_base_ids: Collection[int] = (),
    document_ids: Collection[int] = (),
    labels: Labels = NO_LABELS,
    folder: str = "",
) -> ChatSession:
    """Make a session; without a title it is called "New chat", "New chat 1", … unique for the user.

    What it asks is as `set_scope` has it.
    """
    title = _cleaned(title)[:TITLE_LENGTH]
    automatic = not title
    if automatic:
        _hold(user.pk)
        alike = access.sessions(user).filter(Q(title_is_automatic=True) | Q(title__startswith=_("New chat")))
        taken = {each.name for each in alike.only("title", "title_is_automatic")}
        numbered = (f"New chat {number}" for number in count(1))  # which `name` says in the reader's language
        title = next(each for each in chain(["New chat"], numbered) if ChatSession(title=each).name not in taken)
    session = ChatSession.objects.create(
        owner=user, title=title, title_is_automatic=automatic, last_activity_at=timezone.now()
    )
    if knowledge_base_ids or document_ids or any(labels) or folder:  # a new session asks everything already
        set_scope(user, session, knowledge_base_ids, document_ids, labels, folder)
    return session


def latest_or_new_session(user: Any) -> ChatSession:
    """Return the session of the newest activity, or a fresh one."""
    listed = access.sessions(user).filter(archived=False)
    return listed.order_by("-last_activity_at", "-id").first() or create_session(user)


def rename_session(session: ChatSession, title: str) -> ChatSession:
    """Give the session a title of its own; an empty one changes nothing."""
    title = _cleaned(title)[:TITLE_LENGTH]
    if title:
        session.title, session.title_is_automatic = title, False
        session.save(update_fields=["title", "title_is_automatic"])
        tell_pages(session.pk, "session.changed")
    return session


def set_pinned(session: ChatSession, pinned: bool) -> ChatSession:
    """Pin the session to the top of the list, or let it go."""
    session.pinned = pinned
    session.save(update_fields=["pinned"])
    tell_pages(session.pk, "session.changed")
    return session


def set_archived(session: ChatSession, archived: bool) -> ChatSession:
    """Take the session out of the list, where a search still finds it, or back into it."""
    session.archived = archived
    session.save(update_fields=["archived"])
    tell_pages(session.pk, "session.changed")
    return session


def save_label(user: Any, name: str, label: ChatLabel | None = None) -> ChatLabel:
    """Give a label a name, a new one if there is none yet; raises `ValueError` for none and one that is taken."""
    name = " ".join(_cleaned(name).split())[: ChatLabel.NAME_LENGTH]
    if not name:
        raise ValueError(_("A label needs a name."))
    label = label or ChatLabel(owner=user)
    label.name = name
    try:
        with transaction.atomic():
            label.save()
    except IntegrityError:
        raise ValueError(_("You have a label “%(name)s” already.") % {"name": name}) from None
    return label


def set_labels(user: Any, session: ChatSession, label_ids: Iterable[int]) -> None:
    """Give the session these labels of the user's, and no others."""
    session.labels.set(access.labels(user).filter(pk__in=list(label_ids)))
    tell_pages(session.pk, "session.changed")


@transaction.atomic
def set_scope(
    user: Any,
    session: ChatSession,
    knowledge_base_ids: Iterable[int] = (),
    document_ids: Iterable[int] = (),
    labels: Labels = NO_LABELS,
    folder: str = "",
) -> None:
    """Ask only these knowledge bases or else only these documents; none means all that the user may read.

    Of them, only what has one of the tags and such fields, as `LabelFilter.read` takes them, and lies in the folder:
    raises `LabelError`. What the user may not read is left out. Where there are knowledge bases, documents are not
    looked at.
    """
    tags, metadata = labels
    narrowing = LabelFilter.read(tags, metadata, folder)
    named = list(knowledge_base_ids)
    bases = list(knowledge_access.readable(user).filter(pk__in=named)) if named else []
    named = [] if bases else list(document_ids)
    session.knowledge_bases.set(bases)
    session.documents.set(knowledge_access.searchable_documents(user).filter(pk__in=named) if named else [])
    session.tags, session.metadata, session.folder = list(narrowing.tags), dict(metadata), narrowing.folder
    session.save(update_fields=["tags", "metadata", "folder"])
    tell_pages(session.pk, "session.scope")


def scope_of(session: ChatSession) -> dict[str, Any]:
    """Return what the session asks: ids of knowledge bases and documents, tags, fields and the folder."""
    bases, documents = session.knowledge_bases.through, session.documents.through
    ids = ChatSession.objects.filter(pk=session.pk).values_list(
        ArraySubquery(bases.objects.filter(chatsession_id=OuterRef("pk")).values("knowledgebase_id")),
        ArraySubquery(documents.objects.filter(chatsession_id=OuterRef("pk")).values("document_id")),
    )
    chosen, asked = ids.get()
    labels = {"tags": session.tags, "metadata": session.metadata, "folder": session.folder}
    return {"knowledge_bases": sorted(chosen or ()), "documents": sorted(asked or ()), **labels}


def empty_session(user: Any, knowledge_base_ids: Iterable[int] = (), document_ids: Iterable[int] = ()) -> ChatSession:
    """Return a session without turns that asks this, see `set_scope`: an unused one of the user's, or a fresh one."""
    unused = access.sessions(user).filter(turns=None, title_is_automatic=True, files=None, archived=False)
    session = unused.first() or create_session(user)
    set_scope(user, session, knowledge_base_ids, document_ids)
    return session


@transaction.atomic
def delete_session(session: ChatSession) -> ChatSession | None:
    """Hide the session and end its answers; when it was the user's last, return the fresh one that replaces it."""
    _hold(session.owner_id)
    session.status = ChatSession.Status.DELETED
    session.deleted_at = timezone.now()
    session.save(update_fields=["status", "deleted_at"])
    KnowledgeBase.objects.filter(pk=session.files_id or 0, of_chat=True).update(put_away=True)
    record(AuditEntry.Action.DELETED, session, name=f"#{session.pk}")
    tell_pages(session.pk, "session.deleted")
    turn_store.stop_answers(session.pk)
    if access.sessions(session.owner).filter(archived=False).exists():
        return None
    return create_session(session.owner)


@transaction.atomic
def restore_session(user: Any, pk: int) -> ChatSession | None:
    """Take back a deletion while the session is still there; None when it is not."""
    deleted = ChatSession.objects.filter(pk=pk, owner=user, status=ChatSession.Status.DELETED)
    if deleted.update(status=ChatSession.Status.ACTIVE, deleted_at=None) != 1:
        return None
    session = ChatSession.objects.get(pk=pk)
    KnowledgeBase.objects.filter(pk=session.files_id or 0, of_chat=True).update(put_away=False)
    tell_pages(pk, "session.restored")
    return session


def give_feedback(user: Any, message: Message, value: int, reason: str = "", comment: str = "") -> Feedback:
    """Store the user's thumb on an answer, replacing an earlier one with what was said.

    Of a comment, `Feedback.COMMENT_CHARACTERS` are kept. Raises `ValueError` for another value, for a question and for
    an answer that says nothing.
    """
    if value not in Feedback.Value.values or message.role != Message.Role.ASSISTANT:
        raise ValueError(_("Feedback is 1 (helpful) or -1 (not helpful), on an answer."))
    if not message.content:
        raise ValueError(_("This answer says nothing; there is nothing to rate."))
    feedback, _created = Feedback.objects.update_or_create(
        message=message,
        user=user,
        defaults={
            "value": value,
            "reason": _cleaned(reason)[:40],
            "comment": _cleaned(comment)[: Feedback.COMMENT_CHARACTERS],
        },
    )
    return feedback


def remove_feedback(user: Any, message: Message) -> None:
    """Take the user's thumb back."""
    Feedback.objects.filter(message=message, user=user).delete()


def title_from_question(question: str) -> str:
    """Make a title of at most about 48 columns from a question, cut between words."""
    return shortened(question.rstrip().rstrip("?？。.!！ "))


def shortened(text: str) -> str:
    """Return a text as one line of at most about 48 columns, of which a Chinese character takes two."""
    text = re.sub(r"\s+", " ", text).strip()
    columns = 0
    for position, character in enumerate(text):
        columns += 2 if ord(character) > 0x2E7F else 1
        if columns > 48:
            head = text[:position]
            return (head.rsplit(" ", 1)[0] if " " in head[20:] else head).rstrip(",，;；:：") + "…"
    return text


def note_answer(session_id: int, title: str = "") -> None:
    """Store that a session was answered in now; a title replaces one that is still automatic.

    An archived one is in the list again.
    """
    changes: dict[str, Any] = {"last_activity_at": timezone.now(), "archived": False}
    if title:
        made = Case(When(title_is_automatic=True, then=Value(title[:TITLE_LENGTH])), default=F("title"))
        changes |= {"title": made, "title_is_automatic": False}
    ChatSession.objects.filter(pk=session_id).update(**changes)


def _cleaned(text: str) -> str:
    """Return a text as the database takes it, without space around."""
    return text.replace("\x00", "").strip()


def _hold(user_id: int) -> None:
    """Let those who look at a user's sessions before they change them do so one after the other."""
    get_user_model().objects.select_for_update().get(pk=user_id)
