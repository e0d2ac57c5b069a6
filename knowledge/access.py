"""Access to knowledge bases and documents, used by pages, the API, WebSockets and commands alike.

A base is the user's own, shared with them by name or through a group, or open to the site. Curators
(`ragsite.accounts.roles`) read, edit, set up, share and delete every base.

Someone without access gets `Http404`, whether the object exists or not; someone who may read but not change it gets
`PermissionDenied`, since its existence is no secret to them.
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
    """Return the knowledge bases that the user may read: those at hand, or all of them for a curator."""
    if not _is_person(user):
        return KnowledgeBase.objects.none()
    return _listed().filter(_at_hand(user) | _is_curating(user))


def at_hand(user: Actor) -> QuerySet[KnowledgeBase]:
    """Return the user's default knowledge bases: their own, those shared with them, and those open to the site.

    Curators may read all others too, but don't search other people's private bases unless they choose them.
    """
    if not _is_person(user):
        return KnowledgeBase.objects.none()
    return _listed().filter(_at_hand(user))


def of_chats(user: Actor) -> QuerySet[KnowledgeBase]:
    """Return the bases of the files in the user's own chats; not even curators read those of others.

    No other function here returns them, so they are listed and searched only on explicit request. Those of deleted
    chats are left out.
    """
    if not _is_person(user):
        return KnowledgeBase.objects.none()
    return KnowledgeBase.objects.filter(of_chat=True, put_away=False, owner_id=user.pk)


def readable_ids(user: Actor, ids: Collection[int]) -> list[int]:
    """Return the ids of knowledge bases, sorted; raises `Http404` if the user may not read one of them."""
    found = sorted(readable(user).filter(pk__in=ids).values_list("pk", flat=True))
    if found != sorted(set(ids)):
        raise Http404(_("There is no such knowledge base, or it is not shared with you."))
    return found


def readable_document_ids(user: Actor, ids: Collection[int]) -> list[int]:
    """Return the ids of documents to search, sorted; raises `Http404` if the user may not search one of them."""
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
    """Return the knowledge bases that the user may set up, share and delete: their own, or all for a curator."""
    if not _is_person(user):
        return KnowledgeBase.objects.none()
    return _listed().filter(Q(owner_id=user.pk) | _is_curating(user))


def memberships(user: Actor) -> QuerySet[Membership]:
    """Return the memberships that the user has by name or through a group."""
    return _memberships(key(user))


def curates(user: Actor) -> bool:
    """Return whether the user manages every knowledge base."""
    return _is_person(user) and curators().filter(pk=key(user)).exists()


def curators() -> QuerySet[User]:
    """Return the people who manage every knowledge base: curators and administrators."""
    return User.objects.filter(_curates(), is_active=True)


def readers(knowledge_base: KnowledgeBase) -> QuerySet[User]:
    """Return the people who may read a knowledge base, by the same rules as `readable`."""
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
    """Return the documents that the user may read, including those in their own chats."""
    return Document.objects.filter(_within("knowledge_base", user))


def searchable_documents(user: Actor) -> QuerySet[Document]:
    """Return the documents that the user may search anywhere; files of a chat can be searched only in that chat."""
    return Document.objects.filter(knowledge_base__in=readable(user))


def readable_chunks(user: Actor) -> QuerySet[Chunk]:
    """Return the chunks that the user may read, including those of files in their own chats."""
    return Chunk.objects.filter(_within("document__knowledge_base", user))


def readable_pictures(user: Actor) -> QuerySet[Picture]:
    """Return the pictures that the user may see, including those of files in their own chats."""
    return Picture.objects.filter(_within("document__knowledge_base", user))


def get_knowledge_base(user: Actor, pk: int) -> KnowledgeBase:
    """Return a knowledge base that the user may read, or raise `Http404`."""
    return _get(readable(user).select_related("owner"), pk)


def get_editable_knowledge_base(user: Actor, pk: int) -> KnowledgeBase:
    """Return a knowledge base whose documents the user may change, or raise `Http404` or `PermissionDenied`."""
    knowledge_base = get_knowledge_base(user, pk)
    _require(editable(user).filter(pk=pk).exists(), _("Only its owner and editors can change these documents."))
    return knowledge_base


def get_owned_knowledge_base(user: Actor, pk: int) -> KnowledgeBase:
    """Return a knowledge base that the user may set up, or raise `Http404` or `PermissionDenied`."""
    knowledge_base = get_knowledge_base(user, pk)
    _require(knowledge_base.owner_id == user.pk or curates(user), _("Only its owner can do this."))
    return knowledge_base


def get_document(user: Actor, pk: int) -> Document:
    """Return a document that the user may read, with its knowledge base, or raise `Http404`."""
    return _get(readable_documents(user).select_related("knowledge_base"), pk)


def get_editable_document(user: Actor, pk: int) -> Document:
    """Return a document that the user may change, or raise `Http404` or `PermissionDenied`."""
    document = get_document(user, pk)
    _require(may_edit(user, document), _("Only its owner and editors can change these documents."))
    return document


def may_edit(user: Actor, document: Document) -> bool:
    """Return whether the user may change or remove a document."""
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
    """Return the user's primary key, 0 for an anonymous user."""
    return int(user.pk or 0)


def _is_person(user: Actor) -> bool:
    return user.is_authenticated and bool(getattr(user, "is_active", False))


def _listed() -> QuerySet[KnowledgeBase]:
    """Return the bases that people create and see, without those of the files in chats."""
    return KnowledgeBase.objects.filter(of_chat=False)


def _within(base: str, user: Actor) -> Q:
    """Return the condition that the base at the lookup `base` is one that the user may read."""
    return Q(**{f"{base}__in": readable(user)}) | Q(**{f"{base}__in": of_chats(user)})


def _at_hand(user: Actor) -> Q:
    sql, values = _compiled("reads", user)
    return Q(owner_id=user.pk) | Q(visibility=KnowledgeBase.Visibility.SITE) | Q(pk__in=RawSQL(sql, values))


def _is_curating(user: Actor) -> RawSQL:
    """Return the condition that the user is a curator."""
    sql, values = _compiled("curates", user)
    return RawSQL(f"EXISTS ({sql})", values, BooleanField())


def _memberships(user_id: int) -> QuerySet[Membership]:
    groups = User.groups.through.objects.filter(user_id=user_id).values("group_id")
    return Membership.objects.filter(Q(user_id=user_id) | Q(group_id__in=groups))


# Subqueries about a person. Almost every page uses several of them, and Django takes milliseconds to compile one,
# longer than the database takes to run it.
_ABOUT: dict[str, Callable[[int], QuerySet[Any, Any]]] = {
    "reads": lambda user_id: _memberships(user_id).values("knowledge_base_id"),
    "edits": lambda user_id: _memberships(user_id).filter(role=Membership.Role.EDITOR).values("knowledge_base_id"),
    "curates": lambda user_id: curators().filter(pk=user_id).values("pk"),
}
_SOMEBODY = -1  # placeholder for the person's id


@cache
def _about_somebody(what: str) -> tuple[str, tuple[Any, ...]]:
    return _ABOUT[what](_SOMEBODY).query.sql_with_params()


def _compiled(what: str, user: Actor) -> tuple[str, list[Any]]:
    """Return the SQL of a subquery in `_ABOUT`, and its parameters."""
    sql, values = _about_somebody(what)
    return sql, [key(user) if value == _SOMEBODY else value for value in values]


def _curates() -> Q:
    """Return the condition that a person is a curator; it asks the database, since loaded flags may be out of date."""
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
