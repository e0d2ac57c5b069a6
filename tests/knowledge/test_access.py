"""Access to knowledge bases and documents."""

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import Http404

from knowledge import access
from knowledge.models import KnowledgeBase, Membership
from tests import factories


def test_owner_members_and_the_whole_site_read(owner: User, colleague: User, stranger: User) -> None:
    private = factories.make_knowledge_base(owner)
    factories.share(private, colleague)
    open_base = factories.make_knowledge_base(owner, visibility=KnowledgeBase.Visibility.SITE)
    factories.share(open_base, colleague, Membership.Role.EDITOR)
    assert set(access.readable(owner)) == {private, open_base}
    assert set(access.readable(colleague)) == {private, open_base}
    assert set(access.readable(stranger)) == {open_base}
    assert set(access.editable(owner)) == {private, open_base}
    assert set(access.editable(colleague)) == {open_base}
    assert set(access.editable(stranger)) == set()
    assert set(access.owned(colleague)) == set()


def test_anonymous_and_inactive_users_read_nothing(owner: User, stranger: User) -> None:
    factories.make_knowledge_base(owner, visibility=KnowledgeBase.Visibility.SITE)
    stranger.is_active = False
    for user in (AnonymousUser(), stranger):
        for reach in (
            access.readable,
            access.editable,
            access.owned,
            access.readable_documents,
            access.readable_chunks,
            access.readable_pictures,
        ):
            assert not reach(user).exists()


def test_strangers_get_404_and_readers_403(owner: User, colleague: User, stranger: User, base: KnowledgeBase) -> None:
    document = factories.make_document(base)
    chunk = factories.make_chunk(document)
    assert access.get_document(colleague, document.pk) == document
    assert access.get_chunk(colleague, chunk.pk) == chunk
    assert access.get_editable_document(owner, document.pk) == document
    with pytest.raises(PermissionDenied):
        access.get_editable_document(colleague, document.pk)
    with pytest.raises(PermissionDenied):
        access.get_owned_knowledge_base(colleague, base.pk)
    for get, pk in (
        (access.get_knowledge_base, base.pk),
        (access.get_editable_knowledge_base, base.pk),
        (access.get_owned_knowledge_base, base.pk),
        (access.get_document, document.pk),
        (access.get_editable_document, document.pk),
        (access.get_chunk, chunk.pk),
    ):
        with pytest.raises(Http404):
            get(stranger, pk)
        with pytest.raises(Http404):
            get(owner, 0)
