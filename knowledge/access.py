"""Access to knowledge bases and documents: the one place that pages, API, WebSockets and commands use.

A base is somebody's own, shared with them by name or with a group that they are in, or open to the site. Who curates
(`ragsite.accounts.roles`) reads, edits, sets up, shares and deletes every base.

A stranger gets `Http404`, whether the thing exists or not; a person who may read but not change gets
`PermissionDenied`, since the thing is no secret to them.
"""

from collections.abc import Callable, Collection
from functools import cache
from typing import Any, TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Permission, User
from django.core.exceptions import PermissionDenied
from django.db.models import BooleanField, Exists, Model, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.http import Http404
from django.utils.translation import gettext as _

from knowledge.models import BulkJob, Chunk, Document, KnowledgeBase, Membership, Picture
from ragsite.accounts.roles import CURATE

Actor = AbstractBaseUser | AnonymousUser
M = TypeVar("M", bound=Model)


def readable(user: Actor) -> QuerySet[KnowledgeBase]:
    """Return the knowledge bases that the user may read: those at hand, and for who curates all."""
    if not _is_person(user):
        return KnowledgeBase.objects.none()
    return _listed().filter(_at_hand(user) | _is_curating(user))


def at_hand(user: Actor) -> QuerySet[KnowledgeBase]:
    """Return the knowledge bases that are meant where the user names none: own, shared with them, or open to the site.

    Who curates reads others, too, but doesn't search other people's private bases unasked.
    """
    if not _is_person(user):
        return KnowledgeBase.objects.none()
    return _listed().filter(_at_hand(user))


def of_chats(user: Actor) -> QuerySet[KnowledgeBase]:
    """Return the bases of the files in the user's own chats: not even who curates reads those of others.

    They are among none of the others here, so that nothing lists or searches them but who asks for them. Those of chats
    that are deleted are not even here.
    """
    if not _is_person(user):
        return KnowledgeBase.objects.none()
    return KnowledgeBase.objects.filter(of_chat=True, put_away=False, owner_id=user.pk)


def readable_ids(user: Actor, ids: Collection[int]) -> list[int]:
    """Return ids of knowledge bases, sorted; raises `Http404` where one is of none that the user may read."""
    found = sorted(readable(user).filter(pk__in=ids).values_list("pk", flat=True))
    if found != sorted(set(ids)):
        raise Http404(_("There is no such knowledge base, or it is not shared with you."))
    return found


def readable_document_ids(user: Actor, ids: Collection[int]) -> list[int]:
    """Return ids of documents to be searched, sorted; raises `Http404` where one is of none that the user may."""
    found = sorted(searchable_documents(user).filter(pk__in=ids).values_list("pk", flat=True))
    if found != sorted(set(ids)):
        raise Http404(_("There is no such document, or it is not shared with you."))
    return found


def editable(user: Actor) -> QuerySet[KnowledgeBase]:
    """Return the knowledge bases whose documents the user may add and remove."""
    if not _is_person(user):
        return KnowledgeBase.objects.none()
    sql, values = _compiled("edits", user)
    return _listed().filter(Q(owner_id=user.pk) | Q(pk__in=RawSQL(sql, values)) | _is_curating(user))


def owned(user: Actor) -> QuerySet[KnowledgeBase]:
    """Return the knowledge bases that the user may set up, share and delete: their own, and for who curates all."""
    if not _is_person(user):
        return KnowledgeBase.objects.none()
    return _listed().filter(Q(owner_id=user.pk) | _is_curating(user))


def memberships(user: Actor) -> QuerySet[Membership]:
    """Return what is shared with the user by name, or with a group that they are in."""
    return _memberships(key(user))


def curates(user: Actor) -> bool:
    """Tell whether the user manages every knowledge base."""
    return _is_person(user) and curators().filter(pk=key(user)).exists()


def curators() -> QuerySet[User]:
    """Return the people who manage every knowledge base: curators and administrators."""
    return User.objects.filter(_curates(), is_active=True)


def readers(knowledge_base: KnowledgeBase) -> QuerySet[User]:
    """Return the people who may read a knowledge base, as `readable` has it."""
    people = User.objects.filter(is_active=True)
    if knowledge_base.of_chat:
        return people.filter(pk=knowledge_base.owner_id)
    if knowledge_base.visibility == KnowledgeBase.Visibility.SITE:
        return people
    shared = knowledge_base.memberships.all()
    in_groups = User.groups.through.objects.filter(group_id__in=shared.values("group_id"))
    return people.filter(
        Q(pk=knowledge_base.owner_id)
        | Q(pk__in=shared.filter(user__isnull=False).values("user_id"))
        | Q(pk__in=in_groups.values("user_id"))
        | _curates()
    )


def readable_documents(user: Actor) -> QuerySet[Document]:
    """Return the documents that the user may read, those in their own chats among them."""
    return Document.objects.filter(_within("knowledge_base", user))


def searchable_documents(user: Actor) -> QuerySet[Document]:
    """Return the documents that the user may read and search anywhere: those in chats belong to their chat alone."""
    return Document.objects.filter(knowledge_base__in=readable(user))


def readable_chunks(user: Actor) -> QuerySet[Chunk]:
    """Return the chunks that the user may read, those of files in their own chats among them."""
    return Chunk.objects.filter(_within("document__knowledge_base", user))


def readable_pictures(user: Actor) -> QuerySet[Picture]:
    """Return the pictures that the user may see, those of files in their own chats among them."""
    return Picture.objects.filter(_within("document__knowledge_base", user))


def get_knowledge_base(user: Actor, pk: int) -> KnowledgeBase:
    """Return a knowledge base that the user may read, or raise `Http404`."""
    return _get(readable(user).select_related("owner"), pk)


def get_editable_knowledge_base(user: Actor, pk: int) -> KnowledgeBase:
    """Return a knowledge base whose documents the user may change; `Http404`, or `PermissionDenied` for a reader."""
    knowledge_base = get_knowledge_base(user, pk)
    _require(editable(user).filter(pk=pk).exists(), _("Only its owner and editors can change these documents."))
    return knowledge_base


def get_owned_knowledge_base(user: Actor, pk: int) -> KnowledgeBase:
    """Return a knowledge base that is the user's to set up; `Http404`, or `PermissionDenied` for other readers."""
    knowledge_base = get_knowledge_base(user, pk)
    _require(knowledge_base.owner_id == user.pk or curates(user), _("Only its owner can do this."))
    return knowledge_base


def get_document(user: Actor, pk: int) -> Document:
    """Return a document that the user may read, with its knowledge base, or raise `Http404`."""
    return _get(readable_documents(user).select_related("knowledge_base"), pk)


def get_editable_document(user: Actor, pk: int) -> Document:
    """Return a document that the user may change; `Http404`, or `PermissionDenied` for a reader."""
    document = get_document(user, pk)
    _require(may_edit(user, document), _("Only its owner and editors can change these documents."))
    return document


def may_edit(user: Actor, document: Document) -> bool:
    """Tell whether the user may change or remove a document."""
    bases = editable(user).filter(pk=document.knowledge_base_id)
    return bases.exists() or of_chats(user).filter(pk=document.knowledge_base_id).exists()


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


def _listed() -> QuerySet[KnowledgeBase]:
    """Return the bases that people make and see; those of the files in chats are not among them."""
    return KnowledgeBase.objects.filter(of_chat=False)


def _within(base: str, user: Actor) -> Q:
    """Return the condition that what leads to a base by this name is in one that the user reads."""
    return Q(**{f"{base}__in": readable(user)}) | Q(**{f"{base}__in": of_chats(user)})


def _at_hand(user: Actor) -> Q:
    sql, values = _compiled("reads", user)
    return Q(owner_id=user.pk) | Q(visibility=KnowledgeBase.Visibility.SITE) | Q(pk__in=RawSQL(sql, values))


def _is_curating(user: Actor) -> RawSQL:
    """Return the condition that a person curates."""
    sql, values = _compiled("curates", user)
    return RawSQL(f"EXISTS ({sql})", values, BooleanField())


def _memberships(user_id: int) -> QuerySet[Membership]:
    groups = User.groups.through.objects.filter(user_id=user_id).values("group_id")
    return Membership.objects.filter(Q(user_id=user_id) | Q(group_id__in=groups))


# What is asked of the database about a person within other queries. Almost every page asks some of these several times,
# and Django takes milliseconds to put one together, which is longer than the database takes to answer.
_ABOUT: dict[str, Callable[[int], QuerySet[Any, Any]]] = {
    "reads": lambda user_id: _memberships(user_id).values("knowledge_base_id"),
    "edits": lambda user_id: _memberships(user_id).filter(role=Membership.Role.EDITOR).values("knowledge_base_id"),
    "curates": lambda user_id: curators().filter(pk=user_id).values("pk"),
}
_SOMEBODY = -1  # in whose place the person comes


@cache
def _about_somebody(what: str) -> tuple[str, tuple[Any, ...]]:
    return _ABOUT[what](_SOMEBODY).query.sql_with_params()


def _compiled(what: str, user: Actor) -> tuple[str, list[Any]]:
    """Return a subquery of `_ABOUT` and its values."""
    sql, values = _about_somebody(what)
    return sql, [key(user) if value == _SOMEBODY else value for value in values]


def _curates() -> Q:
    """Return the condition that a person curates: asked of the database, since flags may be older than the request."""
    app, codename = CURATE.split(".")
    permission = Permission.objects.filter(content_type__app_label=app, codename=codename)
    return (
        Q(is_superuser=True)
        | Exists(permission.filter(user=OuterRef("pk")))
        | Exists(permission.filter(group__user=OuterRef("pk")))
    )


def _get(queryset: QuerySet[M], pk: int) -> M:
    found = queryset.filter(pk=pk).first()
    if found is None:
        raise Http404(_("Not found, or not shared with you."))
    return found


def _require(allowed: bool, message: str) -> None:
    if not allowed:
        raise PermissionDenied(message)
