"""Staff without permissions see no more than any stranger, on all pages.

Routes are read from the URL configuration and the admin's registry, so that new ones are included automatically.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import AsyncClient, Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from conversations.models import Citation, Message, TraceStep
from conversations.web.routing import websocket_urlpatterns
from ragsite.db import in_database
from tests import factories, nightly
from tests.test_access_matrix import MATRIX, PARTS, SOCKETS, World, make_world, probe, routes, signed_in

SECRET = "zanzibar-9041"


@pytest.fixture
def powerless(db: None) -> User:
    return factories.make_user("powerless", is_staff=True)


def make_secret_world(owner: User, member: User) -> World:
    """Return a world in which every text contains the secret."""
    world = make_world(owner, member)
    for item, field in (
        (world.base, "name"),
        (world.document, "title"),
        (world.chunk, "content"),
        (world.session, "title"),
        (world.deleted_session, "title"),
        (world.fact, "content"),
        (world.question, "text"),
        (world.token, "name"),
    ):
        type(item)._default_manager.filter(pk=item.pk).update(**{field: f"{field} {SECRET}"})
    Message.objects.update(content=SECRET, blocks=[{"id": "b1", "kind": "text", "text": SECRET}])
    Citation.objects.update(snippet=SECRET, title=SECRET, filename=SECRET)
    TraceStep.objects.update(detail={"messages": [{"role": "user", "content": SECRET}], "reason": SECRET})
    return world


def patterns(resolver: URLResolver, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], URLPattern]]:
    """Yield every URL pattern with its namespaces."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from patterns(pattern, (*names, pattern.namespace) if pattern.namespace else names)
        else:
            yield names, pattern


def admin_routes() -> Iterator[tuple[str, type[Any] | None]]:
    """Yield the names of the admin's routes with the model whose ID they take, or None."""
    models = {f"{model._meta.app_label}_{model._meta.model_name}": model for model in admin.site._registry}
    for names, pattern in patterns(get_resolver()):
        if names == ("admin",) and pattern.name and pattern.name != "logout" and "password" not in pattern.name:
            of = next((name for name in models if pattern.name.startswith(f"{name}_")), "")
            if not of or "<" not in str(pattern.pattern):
                yield pattern.name, None
            else:
                yield pattern.name, models[of]


def admin_addresses() -> Iterator[str]:
    for name, model in admin_routes():
        found = [None] if model is None else [row.pk for row in model._default_manager.all()[:3]] or [1]
        for pk in found:
            if name == "app_list":
                yield from (reverse("admin:app_list", args=[label]) for label in ("conversations", "knowledge", "auth"))
            elif name == "view_on_site":
                yield reverse("admin:view_on_site", args=[1, 1])
            else:
                yield reverse(f"admin:{name}", args=[] if pk is None else [pk])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("names", nightly.sample(PARTS, 1), ids=lambda names: names[0])
async def test_every_route_is_as_closed_to_them_as_to_strangers(
    owner: User, colleague: User, powerless: User, names: list[str]
) -> None:
    as_powerless = await signed_in(powerless)
    world = await in_database(make_world, owner, colleague)
    found = []
    for name in names:
        taken, wrong = await probe(name, MATRIX[name], world, as_powerless)
        found += wrong if taken else [f"{name} returns 404 to no method", *wrong]
    assert found == [], "\n".join(found)


@pytest.mark.django_db
def test_pages_without_an_id_show_them_no_more_than_others(
    owner: User, colleague: User, powerless: User, as_stranger: Client
) -> None:
    make_secret_world(owner, colleague)
    client, unknown = Client(), []
    client.force_login(powerless)
    with_ids = {name for _route, name in routes(get_resolver())}
    for names, pattern in patterns(get_resolver()):
        if names or not pattern.name or pattern.name in with_ids or pattern.name == "logout":
            continue
        for path in nightly.sample([f"{reverse(pattern.name)}?q={SECRET[:8]}", reverse(pattern.name)], 1):
            response = client.get(path)
            body = b"".join(response.streaming_content) if response.streaming else response.content  # type: ignore[attr-defined]
            as_to_others = response.status_code == as_stranger.get(path).status_code
            if response.status_code >= 500 or SECRET in body.decode() or not as_to_others:
                unknown.append(f"{path}: {response.status_code}")
    assert unknown == []


@pytest.mark.django_db
def test_the_admin_is_closed_to_them(owner: User, colleague: User, powerless: User) -> None:
    make_secret_world(owner, colleague)
    client, found = Client(), []
    client.force_login(powerless)
    addresses = list(admin_addresses())
    assert len(addresses) > 80
    for address in addresses:
        for method in nightly.sample(["get", "post"], 1):
            response = getattr(client, method)(address)
            if SECRET in response.content.decode():
                found.append(f"{method} {address} shows the secret")
            opened = response.status_code == 200 and address not in OPEN
            if opened or response.status_code >= 500:
                found.append(f"{method} {address}: {response.status_code}")
    assert found == []


# Pages of the admin without anyone's data.
OPEN = ("/admin/", "/admin/jsi18n/", "/admin/login/")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("route", [str(pattern.pattern) for pattern in websocket_urlpatterns])
async def test_every_socket_refuses_them(owner: User, colleague: User, powerless: User, route: str) -> None:
    from ragsite.asgi import application

    world = await in_database(make_world, owner, colleague)
    client = AsyncClient()
    await client.aforce_login(powerless)
    cookie = "; ".join(f"{key}={morsel.value}" for key, morsel in client.cookies.items())
    headers = [(b"cookie", cookie.encode()), (b"origin", b"http://testserver"), (b"host", b"testserver")]
    socket = WebsocketCommunicator(application, SOCKETS[route](world), headers=headers)
    assert (await socket.connect(timeout=60))[0] is False
    await socket.disconnect(timeout=60)


@pytest.mark.django_db
def test_with_permission_they_read_traces_but_sources_only_of_readable_bases(
    owner: User, colleague: User, powerless: User
) -> None:
    world = make_secret_world(owner, colleague)
    TraceStep.objects.update(detail={"action": "chat"})
    Message.objects.update(content="Which port?")
    for name in ("view_turn", "view_message", "view_tracestep"):
        powerless.user_permissions.add(Permission.objects.get(codename=name))
    client = Client()
    client.force_login(powerless)
    assert client.get(reverse("trace", args=[world.answer.turn_id])).status_code == 200
    assert client.get(reverse("api-trace", args=[world.answer.pk])).status_code == 200
    source = reverse("citation", args=[world.answer.pk, 1])
    assert client.get(source).status_code == 404
    factories.share(world.base, powerless)
    assert SECRET in client.get(source).content.decode()


@pytest.mark.django_db
def test_former_staff_can_not_use_their_permissions(owner: User, colleague: User) -> None:
    world = make_world(owner, colleague)
    gone = factories.make_user("gone", is_staff=True, is_superuser=True, is_active=False)
    client = Client()
    client.force_login(gone)
    assert client.get(reverse("trace", args=[world.answer.turn_id])).status_code == 302
