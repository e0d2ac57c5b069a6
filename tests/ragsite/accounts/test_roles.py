"""Roles are Django's flags and permissions, assigned and removed together."""

import pytest
from django.contrib.auth.models import Permission, User

from ragsite.accounts.roles import CURATOR_PERMISSIONS, Role, assign, role_of

pytestmark = pytest.mark.django_db


def test_roles_are_assigned_and_removed() -> None:
    user = User.objects.create_user("mei")
    assert role_of(user) == Role.MEMBER
    for role in (Role.CURATOR, Role.ADMINISTRATOR, Role.CURATOR, Role.MEMBER):
        assign(user, role)
        user = User.objects.get(pk=user.pk)  # permissions are cached at the object
        assert role_of(user) == role
        assert (user.is_staff, user.is_superuser) == (role == Role.ADMINISTRATOR,) * 2
    assert not user.user_permissions.exists()


def test_a_curators_permissions_exist_and_others_are_left() -> None:
    user = User.objects.create_user("jin")
    other = Permission.objects.get(codename="view_turn")
    user.user_permissions.add(other)
    assign(user, Role.CURATOR)
    assert User.objects.get(pk=user.pk).has_perms(CURATOR_PERMISSIONS)
    assign(user, Role.MEMBER)
    assert list(user.user_permissions.all()) == [other]
