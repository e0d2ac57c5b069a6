"""Access to knowledge bases and documents: the one place that pages, API, WebSockets and commands use.

A stranger gets `Http404`, whether the thing exists or not; a person who may read but not change gets
`PermissionDenied`, since the thing is no secret to them.
"""

from collections.abc import Collection
from typing import TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from knowledge.models import BulkJob, Chunk, Document, KnowledgeBase, Membership, Picture

Actor = AbstractBaseUser | AnonymousUser
M = TypeVar("M", bound=Model)


def readable(user: Actor) -> QuerySet[KnowledgeBase]:
    """Return the knowledge bases that the user may read: own, shared with them, or open to the site."""
    if not _is_person(user):
        return KnowledgeBase.objects.none()
    return KnowledgeBase.objects.filter(
        Q(owner_id=user.pk) | Q(visibility=KnowledgeBase.Visibility.SITE) | Exists(_memberships(user))
    )


def readable_ids(user: Actor, ids: Collection[int]) -> list[int]:
    """Return ids of knowledge bases, sorted; raises `Http404` where one is of none that the user may read."""
    found = sorted(readable(user).filter(pk__in=ids).values_list("pk", flat=True))
    if found != sorted(set(ids)):
        raise Http404(_("There is no such knowledge base, or it is not shared with you."))
    return found


def readable_document_ids(user: Actor, ids: Collection[int]) -> list[int]:
    """Return ids of documents, sorted; raises `Http404` where one is of none that the user may read."""
    found = sorted(readable_documents(user).filter(pk__in=ids).values_list("pk", flat=True))
    if found != sorted(set(ids)):
        raise Http404(_("There is no such document, or it is not shared with you."))
    return found


def editable(user: Actor) -> QuerySet[KnowledgeBase]:
    """Return the knowledge bases whose documents the user may add and remove."""
    if not _is_person(user):
        return KnowledgeBase.objects.none()
    editor = _memberships(user).filter(role=Membership.Role.EDITOR)
    return KnowledgeBase.objects.filter(Q(owner_id=user.pk) | Exists(editor))


def owned(user: Actor) -> QuerySet[KnowledgeBase]:
    """Return the knowledge bases that are the user's own: theirs to set up, share and delete."""
    if not _is_person(user):
        return KnowledgeBase.objects.none()
    return KnowledgeBase.objects.filter(owner_id=user.pk)


def readers(knowledge_base: KnowledgeBase) -> QuerySet[User]:
    """Return the people who may read a knowledge base, as `readable` has it."""
    people = User.objects.filter(is_active=True)
    if knowledge_base.visibility == KnowledgeBase.Visibility.SITE:
        return people
    members = knowledge_base.memberships.values("user_id")
    return people.filter(Q(pk=knowledge_base.owner_id) | Q(pk__in=members))


def readable_documents(user: Actor) -> QuerySet[Document]:
    """Return the documents that the user may read."""
    return Document.objects.filter(knowledge_base__in=readable(user))


def readable_chunks(user: Actor) -> QuerySet[Chunk]:
    """Return the chunks that the user may read."""
    return Chunk.objects.filter(document__knowledge_base__in=readable(user))


def readable_pictures(user: Actor) -> QuerySet[Picture]:
    """Return the pictures that the user may see."""
    return Picture.objects.filter(document__knowledge_base__in=readable(user))


def get_knowledge_base(user: Actor, pk: int) -> KnowledgeBase:
    """Return a knowledge base that the user may read, or raise `Http404`."""
    return _get(readable(user).select_related("owner"), pk)


def get_editable_knowledge_base(user: Actor, pk: int) -> KnowledgeBase:
    """Return a knowledge base whose documents the user may change; `Http404`, or `PermissionDenied` for a reader."""
    knowledge_base = get_knowledge_base(user, pk)
    _require(editable(user).filter(pk=pk).exists(), _("Only its owner and editors can change these documents."))
    return knowledge_base


def get_owned_knowledge_base(user: Actor, pk: int) -> KnowledgeBase:
    """Return a knowledge base of the user's own; `Http404`, or `PermissionDenied` for other readers."""
    knowledge_base = get_knowledge_base(user, pk)
    _require(knowledge_base.owner_id == user.pk, _("Only its owner can do this."))
    return knowledge_base


def get_document(user: Actor, pk: int) -> Document:
    """Return a document that the user may read, with its knowledge base, or raise `Http404`."""
    return _get(readable_documents(user).select_related("knowledge_base"), pk)


def get_editable_document(user: Actor, pk: int) -> Document:
    """Return a document that the user may change; `Http404`, or `PermissionDenied` for a reader."""
    document = get_document(user, pk)
    allowed = editable(user).filter(pk=document.knowledge_base_id).exists()
    _require(allowed, _("Only its owner and editors can change these documents."))
    return document


def get_bulk_job(user: Actor, pk: int) -> BulkJob:
    """Return a bulk job in a knowledge base that the user may read, or raise `Http404`."""
    return _get(BulkJob.objects.filter(knowledge_base__in=readable(user)).defer("document_ids"), pk)


def get_chunk(user: Actor, pk: int) -> Chunk:
    """Return a chunk that the user may read, with its document and knowledge base, or raise `Http404`."""
    return _get(readable_chunks(user).select_related("document__knowledge_base", "picture"), pk)


def get_picture(user: Actor, pk: int) -> Picture:
    """Return a picture that the user may see, or raise `Http404`."""
    return _get(readable_pictures(user), pk)


def key(user: Actor) -> int:
    """Return the user's primary key, 0 for nobody."""
    return int(user.pk or 0)


def _is_person(user: Actor) -> bool:
    return user.is_authenticated and bool(getattr(user, "is_active", False))


def _memberships(user: Actor) -> QuerySet[Membership]:
    return Membership.objects.filter(knowledge_base=OuterRef("pk"), user_id=key(user))


def _get(queryset: QuerySet[M], pk: int) -> M:
    found = queryset.filter(pk=pk).first()
    if found is None:
        raise Http404(_("Nothing is here, or it is not shared with you."))
    return found


def _require(allowed: bool, message: str) -> None:
    if not allowed:
        raise PermissionDenied(message)
