"""Actions of users on their sessions and answers, other than asking."""

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
from conversations.groups import notify_pages
from conversations.models import ChatLabel, ChatSession, Feedback, Message
from knowledge import access as knowledge_access
from knowledge.labels import LabelFilter
from knowledge.models import KnowledgeBase
from ragsite.audit.log import record
from ragsite.models import AuditEntry

TITLE_LENGTH = 200
# Tags, and the values of metadata fields.
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
    """Create a session; without a title it is called "New chat", "New chat 1", …, unique among the user's sessions.

    The other arguments are those of `set_scope`.
    """
    title = _cleaned(title)[:TITLE_LENGTH]
    automatic = not title
    if automatic:
        _hold(user.pk)
        alike = access.sessions(user).filter(Q(title_is_automatic=True) | Q(title__startswith=_("New chat")))
        taken = {each.name for each in alike.only("title", "title_is_automatic")}
        numbered = (f"New chat {number}" for number in count(1))  # `name` translates these
        title = next(each for each in chain(["New chat"], numbered) if ChatSession(title=each).name not in taken)
    session = ChatSession.objects.create(
        owner=user, title=title, title_is_automatic=automatic, last_activity_at=timezone.now()
    )
    if knowledge_base_ids or document_ids or any(labels) or folder:  # a new session searches everything
        set_scope(user, session, knowledge_base_ids, document_ids, labels, folder)
    return session


def latest_or_new_session(user: Any) -> ChatSession:
    """Return the user's session with the newest activity, or a new one."""
    listed = access.sessions(user).filter(archived=False)
    return listed.order_by("-last_activity_at", "-id").first() or create_session(user)


def rename_session(session: ChatSession, title: str) -> ChatSession:
    """Rename the session; an empty title is ignored."""
    title = _cleaned(title)[:TITLE_LENGTH]
    if title:
        session.title, session.title_is_automatic = title, False
        session.save(update_fields=["title", "title_is_automatic"])
        notify_pages(session.pk, "session.changed")
    return session


def set_pinned(session: ChatSession, pinned: bool) -> ChatSession:
    """Pin the session to the top of the list, or unpin it."""
    session.pinned = pinned
    session.save(update_fields=["pinned"])
    notify_pages(session.pk, "session.changed")
    return session


def set_archived(session: ChatSession, archived: bool) -> ChatSession:
    """Move the session to the archive, where search still finds it, or back to the list."""
    session.archived = archived
    session.save(update_fields=["archived"])
    notify_pages(session.pk, "session.changed")
    return session


def save_label(user: Any, name: str, label: ChatLabel | None = None) -> ChatLabel:
    """Rename a label, or create one; raises `ValueError` if the name is empty or taken."""
    name = " ".join(_cleaned(name).split())[: ChatLabel.NAME_LENGTH]
    if not name:
        raise ValueError(_("Enter a name for the label."))
    label = label or ChatLabel(owner=user)
    label.name = name
    try:
        with transaction.atomic():
            label.save()
    except IntegrityError:
        raise ValueError(_("You already have a label called “%(name)s”.") % {"name": name}) from None
    return label


def set_labels(user: Any, session: ChatSession, label_ids: Iterable[int]) -> None:
    """Replace the session's labels with these labels of the user."""
    session.labels.set(access.labels(user).filter(pk__in=list(label_ids)))
    notify_pages(session.pk, "session.changed")


@transaction.atomic
def set_scope(
    user: Any,
    session: ChatSession,
    knowledge_base_ids: Iterable[int] = (),
    document_ids: Iterable[int] = (),
    labels: Labels = NO_LABELS,
    folder: str = "",
) -> None:
    """Limit the session to these knowledge bases, or else to these documents; none means all that the user may read.

    `labels` and `folder` limit it further, to documents with one of the tags, with the metadata fields, and in the
    folder, as `LabelFilter.read` takes them; raises `LabelError`. Anything that the user may not read is ignored.
    Documents are ignored if there are knowledge bases.
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
    notify_pages(session.pk, "session.scope")


def scope_of(session: ChatSession) -> dict[str, Any]:
    """Return the session's scope: ids of knowledge bases and documents, tags, metadata fields and the folder."""
    bases, documents = session.knowledge_bases.through, session.documents.through
    ids = ChatSession.objects.filter(pk=session.pk).values_list(
        ArraySubquery(bases.objects.filter(chatsession_id=OuterRef("pk")).values("knowledgebase_id")),
        ArraySubquery(documents.objects.filter(chatsession_id=OuterRef("pk")).values("document_id")),
    )
    chosen, asked = ids.get()
    labels = {"tags": session.tags, "metadata": session.metadata, "folder": session.folder}
    return {"knowledge_bases": sorted(chosen or ()), "documents": sorted(asked or ()), **labels}


def empty_session(user: Any, knowledge_base_ids: Iterable[int] = (), document_ids: Iterable[int] = ()) -> ChatSession:
    """Return a session without turns with this scope, see `set_scope`: an unused one of the user's, or a new one."""
    unused = access.sessions(user).filter(turns=None, title_is_automatic=True, files=None, draft=None, archived=False)
    session = unused.first() or create_session(user)
    set_scope(user, session, knowledge_base_ids, document_ids)
    return session


@transaction.atomic
def delete_session(session: ChatSession) -> ChatSession | None:
    """Mark the session as deleted and stop its answers; if it was the user's last, return a new one to replace it."""
    _hold(session.owner_id)
    session.status = ChatSession.Status.DELETED
    session.deleted_at = timezone.now()
    session.save(update_fields=["status", "deleted_at"])
    KnowledgeBase.objects.filter(pk=session.files_id or 0, of_chat=True).update(put_away=True)
    record(AuditEntry.Action.DELETED, session, name=f"#{session.pk}")
    notify_pages(session.pk, "session.deleted")
    turn_store.stop_answers(session.pk)
    if access.sessions(session.owner).filter(archived=False).exists():
        return None
    return create_session(session.owner)


@transaction.atomic
def restore_session(user: Any, pk: int) -> ChatSession | None:
    """Restore a deleted session; return None if it has been purged."""
    deleted = ChatSession.objects.filter(pk=pk, owner=user, status=ChatSession.Status.DELETED)
    if deleted.update(status=ChatSession.Status.ACTIVE, deleted_at=None) != 1:
        return None
    session = ChatSession.objects.get(pk=pk)
    KnowledgeBase.objects.filter(pk=session.files_id or 0, of_chat=True).update(put_away=False)
    notify_pages(pk, "session.restored")
    return session


def give_feedback(user: Any, message: Message, value: int, reason: str = "", comment: str = "") -> Feedback:
    """Store the user's rating of an answer, replacing an earlier one with its reason and comment.

    The comment is cut to `Feedback.COMMENT_CHARACTERS`. Raises `ValueError` for an invalid value, a question or an
    empty answer.
    """
    if value not in Feedback.Value.values or message.role != Message.Role.ASSISTANT:
        raise ValueError(_("Feedback must be 1 (helpful) or -1 (not helpful), and on an answer."))
    if not message.content:
        raise ValueError(_("This answer is empty, so it can't be rated."))
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
    """Remove the user's rating of an answer."""
    Feedback.objects.filter(message=message, user=user).delete()


def title_from_question(question: str) -> str:
    """Return a title of at most about 48 columns for a question, cut between words."""
    return shortened(question.rstrip().rstrip("?？。.!！ "))


def shortened(text: str) -> str:
    """Return a text as one line of at most about 48 columns; a Chinese character takes two."""
    text = re.sub(r"\s+", " ", text).strip()
    columns = 0
    for position, character in enumerate(text):
        columns += 2 if ord(character) > 0x2E7F else 1
        if columns > 48:
            head = text[:position]
            return (head.rsplit(" ", 1)[0] if " " in head[20:] else head).rstrip(",，;；:：") + "…"
    return text


def note_answer(session_id: int, title: str = "") -> None:
    """Update a session after an answer; a title replaces one that is still automatic.

    An archived session moves back to the list.
    """
    changes: dict[str, Any] = {"last_activity_at": timezone.now(), "archived": False}
    if title:
        made = Case(When(title_is_automatic=True, then=Value(title[:TITLE_LENGTH])), default=F("title"))
        changes |= {"title": made, "title_is_automatic": False}
    ChatSession.objects.filter(pk=session_id).update(**changes)


def _cleaned(text: str) -> str:
    """Return a text without nulls, which the database refuses, and without surrounding whitespace."""
    return text.replace("\x00", "").strip()


def _hold(user_id: int) -> None:
    """Lock the user's row, so that changes that depend on the user's other sessions run one after the other."""
    get_user_model().objects.select_for_update().get(pk=user_id)
