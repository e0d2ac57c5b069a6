"""A stranger gets 404 for an owner's objects, on every route with an ID: pages, API, files, admin and WebSockets.

The routes are read from the URL configuration. A new one fails here until its IDs are added to the matrix.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2
import pytest
from allauth.usersessions.models import UserSession
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.contrib.auth.models import Group, Permission, User
from django.core.files.base import ContentFile
from django.test import AsyncClient, Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from PIL import Image

from conversations import services
from conversations.models import (
    Assistant,
    ChatLabel,
    ChatSession,
    ContextEntry,
    MemoryFact,
    Message,
    Rehearsal,
    SavedPrompt,
    ShareLink,
)
from conversations.web.routing import websocket_urlpatterns
from knowledge.invitations import invitations
from knowledge.models import BulkJob, Chunk, Document, Invitation, KnowledgeBase, Membership, Picture
from ragsite.db import in_database
from ragsite.models import ApiToken
from retrieval.evaluation import sets as evaluation_sets
from retrieval.evaluation.models import EvaluationQuestion, EvaluationRun
from tests import factories
from tests.conversations.records import make_session, make_turn
from tests.turns import wait_for_all

METHODS = ("get", "post", "put", "patch", "delete")
# Non-staff users are redirected to sign in before the admin looks up an object, whether it exists or not.
REDIRECTED = "admin/"


@dataclass
class World:
    """An owner's objects."""

    owner: User
    member: User
    base: KnowledgeBase
    document: Document
    picture: Picture
    chunk: Chunk
    session: ChatSession
    deleted_session: ChatSession
    answer: Message
    token: ApiToken
    fact: MemoryFact
    question: EvaluationQuestion
    run: EvaluationRun
    link: ShareLink
    assistant: Assistant
    rehearsal: Rehearsal
    job: BulkJob
    invitation: Invitation
    group: Group
    sign_in: UserSession
    file: Document
    label: ChatLabel
    prompt: SavedPrompt


def make_world(owner: User, member: User) -> World:
    base = factories.make_knowledge_base(owner)
    factories.share(base, member)
    document = factories.make_document(base, "page.pdf", _pdf(), media_type="application/pdf", pages=1)
    picture = Picture.objects.create(document=document, alt="A port", file=ContentFile(_png(), "port.png"))
    chunk = factories.make_chunk(document, picture=picture, page_from=1, page_to=1)
    session = make_session(owner)
    deleted = make_session(owner)
    answer = make_turn(session, chunk=chunk)
    services.delete_session(deleted)
    token = ApiToken.objects.create(user=owner, name="t", digest=f"{session.pk:064}")
    fact = MemoryFact.objects.create(user=owner, content=f"I work in room {session.pk}.")
    ContextEntry.objects.create(
        session=session, turn=answer.turn, covers_from=answer.turn, type="summary", role="system", content="Ports."
    )
    golden = evaluation_sets.create_set(owner, base, f"Set {base.pk}")
    question = evaluation_sets.add_question(golden, "Which port?", [chunk.pk])
    run = EvaluationRun.objects.create(evaluation_set=golden)
    link = ShareLink.objects.create(session=session, last_turn=answer.turn)
    assistant = Assistant.objects.create(name=f"Assistant {base.pk}", everyone=False)
    assistant.people.add(owner)
    owner.user_permissions.add(Permission.objects.get(codename="change_assistant"))
    assistant.versions.create(number=1)
    rehearsal = Rehearsal.objects.create(assistant=assistant, user=owner, version=1, run=run, beside=run)
    job = BulkJob.objects.create(knowledge_base=base, user=owner, action="retry", total=0, status="done")
    invitation, _key = invitations.invite(owner, base=base)
    group = Group.objects.create(name=f"Group {base.pk}")
    Membership.objects.create(knowledge_base=base, group=group)
    sign_in = UserSession.objects.create(user=owner, ip="127.0.0.1", session_key=f"none-{base.pk}")
    session.files = factories.make_knowledge_base(owner, f"chat {session.pk}", of_chat=True)
    session.save(update_fields=["files"])
    file = factories.make_document(session.files, "put-in.txt")
    label = services.save_label(owner, f"Label {session.pk}")
    prompt = SavedPrompt.objects.create(owner=owner, title="Sums", text="How much?")
    return World(
        owner, member, base, document, picture, chunk, session, deleted, answer, token, fact, question, run, link,
        assistant, rehearsal, job, invitation, group, sign_in, file, label, prompt,
    )  # fmt: skip


def _pdf() -> bytes:
    pdf = pypdfium2.PdfDocument.new()
    pdf.new_page(200, 100)
    buffer = io.BytesIO()
    pdf.save(buffer)
    return buffer.getvalue()


def _png() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 3)).save(buffer, "PNG")
    return buffer.getvalue()


Ids = Callable[[World], dict[str, Any]]


def base(world: World) -> dict[str, Any]:
    return {"pk": world.base.pk}


def member(world: World) -> dict[str, Any]:
    return {"pk": world.base.pk, "user_id": world.member.pk}


def invitation(world: World) -> dict[str, Any]:
    return {"pk": world.base.pk, "invitation_id": world.invitation.pk}


def shared_group(world: World) -> dict[str, Any]:
    return {"pk": world.base.pk, "group_id": world.group.pk}


def bulk_job(world: World) -> dict[str, Any]:
    return {"pk": world.job.pk}


def document(world: World) -> dict[str, Any]:
    return {"pk": world.document.pk}


def page(world: World) -> dict[str, Any]:
    return {"pk": world.document.pk, "number": 1}


def picture(world: World) -> dict[str, Any]:
    return {"pk": world.picture.pk}


def chunk(world: World) -> dict[str, Any]:
    return {"pk": world.chunk.pk}


def session(world: World) -> dict[str, Any]:
    return {"pk": world.session.pk}


def label(world: World) -> dict[str, Any]:
    return {"pk": world.label.pk}


def prompt(world: World) -> dict[str, Any]:
    return {"pk": world.prompt.pk}


def deleted_session(world: World) -> dict[str, Any]:
    return {"pk": world.deleted_session.pk}


def turn(world: World) -> dict[str, Any]:
    return {"pk": world.answer.turn_id}


def answer(world: World) -> dict[str, Any]:
    return {"pk": world.answer.pk}


def citation(world: World) -> dict[str, Any]:
    return {"pk": world.answer.pk, "number": 1}


def answer_in_session(world: World) -> dict[str, Any]:
    return {"pk": world.session.pk, "message_id": world.answer.pk}


def file_in_session(world: World) -> dict[str, Any]:
    return {"pk": world.session.pk, "document_id": world.file.pk}


def chat_of_files(world: World) -> dict[str, Any]:
    return {"pk": world.file.knowledge_base_id}


def links_of_session(world: World) -> dict[str, Any]:
    return {"session_id": world.session.pk}


def link_of_base(world: World) -> dict[str, Any]:
    return {"pk": world.base.pk, "uuid": world.link.pk}


def link(world: World) -> dict[str, Any]:
    return {"uuid": world.link.pk}


def token(world: World) -> dict[str, Any]:
    return {"pk": world.token.pk}


def fact(world: World) -> dict[str, Any]:
    return {"pk": world.fact.pk}


def question_set(world: World) -> dict[str, Any]:
    return {"pk": world.question.evaluation_set_id}


def question(world: World) -> dict[str, Any]:
    return {"pk": world.question.pk}


def question_in_set(world: World) -> dict[str, Any]:
    return {"pk": world.question.evaluation_set_id, "question_id": world.question.pk}


def run(world: World) -> dict[str, Any]:
    return {"pk": world.run.pk}


def rehearsal(world: World) -> dict[str, Any]:
    return {"pk": world.assistant.pk, "number": world.rehearsal.pk}


def assistant(world: World) -> dict[str, Any]:
    return {"pk": world.assistant.pk}


def version(world: World) -> dict[str, Any]:
    return {"pk": world.assistant.pk, "number": 1}


def nobodys_key(world: World) -> dict[str, Any]:
    return {"pk": 1}


MATRIX: dict[str, Ids] = {
    "account_confirm_email": lambda world: {"key": "none"},
    "account_reset_password_from_key": lambda world: {"uidb36": "1", "key": "none"},
    "openid_connect_login": lambda world: {"provider_id": "none"},
    "openid_connect_callback": lambda world: {"provider_id": "none"},
    "mfa_remove_webauthn": nobodys_key,
    "mfa_edit_webauthn": nobodys_key,
    "choose-assistant": session,
    "assistant": assistant,
    "rehearsal": rehearsal,
    "copy-assistant": assistant,
    "delete-assistant": assistant,
    "export-assistant": assistant,
    "ask-assistant": assistant,
    "restore-version": version,
    "revoke-token": token,
    "end-sign-in": lambda world: {"pk": world.sign_in.pk},
    "knowledge-base": base,
    "knowledge-base-upload": base,
    "knowledge-base-upload-summary": base,
    "knowledge-base-bulk": base,
    "bulk-job": bulk_job,
    "document-labels": document,
    "knowledge-base-settings": base,
    "knowledge-base-members": base,
    "knowledge-base-member-remove": member,
    "knowledge-base-group-remove": shared_group,
    "knowledge-base-invitations": base,
    "knowledge-base-invitation-revoke": invitation,
    "invitation": lambda world: {"key": "none"},
    "knowledge-base-delete": base,
    "document": document,
    "document-row": document,
    "document-state": document,
    "document-retry": document,
    "document-cancel": document,
    "document-delete": document,
    "document-file": document,
    "document-page": page,
    "document-page-layer": page,
    "picture": picture,
    "passage": chunk,
    "api-knowledge-base": base,
    "api-members": base,
    "api-shared-groups": base,
    "api-invitations": base,
    "api-invitation": invitation,
    "api-member": member,
    "api-shared-group": shared_group,
    "api-documents": base,
    "api-documents-bulk": base,
    "api-bulk-job": bulk_job,
    "api-document": document,
    "api-document-chunks": document,
    "api-document-file": document,
    "api-document-reingest": document,
    "api-document-cancel": document,
    "api-evaluation-set": question_set,
    "api-evaluation-questions": question_set,
    "api-evaluation-question": question_in_set,
    "api-evaluation-export": question_set,
    "api-evaluation-runs": question_set,
    "api-evaluation-run": run,
    "api-evaluation-results": run,
    "memory-change": fact,
    "memory-forget": fact,
    "api-memory-fact": fact,
    "summary": session,
    "api-summary": session,
    "api-summary-versions": session,
    "api-restore-summary": session,
    "api-session": session,
    "api-content": session,
    "api-content-stream": answer_in_session,
    "api-session-files": session,
    "api-session-file": file_in_session,
    "api-keep-session-file": file_in_session,
    "api-export-json": session,
    "api-export-markdown": session,
    "api-share-links": links_of_session,
    "api-share-link": link,
    "api-continue": answer,
    "api-message": answer,
    "api-citations": answer,
    "api-trace": answer,
    "api-stop": answer,
    "api-regenerate": answer,
    "api-feedback": answer,
    "api-note": answer,
    "session": session,
    "rename-session": session,
    "archive-session": session,
    "session-labels": session,
    "api-label": label,
    "saved-prompt": prompt,
    "delete-saved-prompt": prompt,
    "api-saved-prompt": prompt,
    "api-assistant": assistant,
    "pin-session": session,
    "draft": session,
    "see-answer": session,
    "delete-session": session,
    "restore-session": deleted_session,
    "choose-scope": session,
    "find-scope": session,
    "attach": session,
    "chat-file": file_in_session,
    "remove-chat-file": file_in_session,
    "retry-chat-file": file_in_session,
    "keep-chat-file": file_in_session,
    "chat-of-files": chat_of_files,
    "ask-document": document,
    "ask-knowledge-base": base,
    "share": session,
    "export-markdown": session,
    "export-json": session,
    "shared": link,
    "knowledge-base-links": base,
    "revoke-quoting-link": link_of_base,
    "api-quoting-links": base,
    "api-quoting-link": link_of_base,
    "revoke-link": link,
    "ask": session,
    "stop": session,
    "edit-question": turn,
    "question": turn,
    "trace": turn,
    "regenerate": answer,
    "continue": answer,
    "copied-answer": answer,
    "save-note": answer,
    "feedback": answer,
    "citation": citation,
    "add-answer-to-set": answer,
    "evaluation-set": question_set,
    "evaluation-set-run": question_set,
    "evaluation-set-answers": question_set,
    "evaluation-set-upload": question_set,
    "evaluation-set-export": question_set,
    "evaluation-set-rename": question_set,
    "evaluation-set-delete": question_set,
    "evaluation-question": question,
    "evaluation-question-remove": question,
    "evaluation-run": run,
    "evaluation-run-delete": run,
}
# Routes that redirect a stranger, with the reason; they must do the same for an ID that doesn't exist.
ELSEWHERE: dict[str, str] = {
    "restore-session": "if there is nothing to restore, it redirects to the user's own latest chat",
}
# Routes that strangers may use, with the reason.
PUBLIC: dict[str, str] = {
    "account_confirm_email": "anyone with the link may use it; it is signed",
    "account_reset_password_from_key": "anyone with the link may use it; it is signed",
    "openid_connect_login": "used before signing in",
    "openid_connect_callback": "used before signing in",
    "mfa_remove_webauthn": "asks for the password first; see ragsite/accounts/test_sign_in.py",
    "mfa_edit_webauthn": "asks for the password first",
    "invitation": "anyone with the link may use it; see knowledge/invitations/test_invitations.py for its limits",
    "shared": "anyone with the link may read the shared chat; see conversations/sharing/test_sharing.py",
}
SOCKETS: dict[str, Callable[[World], str]] = {
    "ws/sessions/<int:session_id>/": lambda world: f"/ws/sessions/{world.session.pk}/",
}


def routes(resolver: URLResolver, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield (route, name) of every URL pattern with arguments, except the admin's."""
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern)
        if route.startswith(REDIRECTED):
            continue
        if isinstance(pattern, URLResolver):
            yield from routes(pattern, route)
        elif isinstance(pattern, URLPattern) and ("<" in route or "(" in route):
            yield route, pattern.name or route


def test_the_matrix_contains_every_route_with_an_id() -> None:
    found = {name for _route, name in routes(get_resolver())}
    assert found - set(MATRIX) == set(), "new routes: add the IDs to try to MATRIX"
    assert set(MATRIX) - found == set(), "routes that no longer exist"


def test_the_matrix_contains_every_socket() -> None:
    assert {str(pattern.pattern) for pattern in websocket_urlpatterns} == set(SOCKETS)


def test_no_two_routes_share_a_name() -> None:
    names = [name for _route, name in routes(get_resolver())]
    assert len(names) == len(set(names))


async def signed_in(user: User) -> AsyncClient:
    client = AsyncClient()
    await client.aforce_login(user)
    return client


async def send(client: AsyncClient, method: str, name: str, url: str) -> Any:
    if method == "get":
        return await client.get(url)
    return await getattr(client, method)(url, content_type="application/json")


async def probe(name: str, ids: Ids, world: World, as_stranger: AsyncClient) -> tuple[list[str], list[str]]:
    """Return the methods of a route that return 404 to a stranger, and the errors in the responses to others."""
    url = reverse(name, kwargs=ids(world))
    taken, found = [], []
    for method in METHODS:
        response = await send(as_stranger, method, name, url)
        status = response.status_code
        if status == 404:
            taken.append(method)
        elif status == 302 and name in ELSEWHERE:
            nowhere = reverse(name, kwargs={key: value + 999_999 for key, value in ids(world).items()})
            same = (await send(as_stranger, method, name, nowhere))["Location"] == response["Location"]
            found += [] if same else [f"{method.upper()} {url} ({name}) reveals to a stranger that it exists"]
            taken.append(method)
        elif status != 405:
            found.append(f"{method.upper()} {url} ({name}) returns {status} to a stranger")
    return taken, found


async def _there(name: str, url: str, methods: list[str], as_owner: AsyncClient) -> bool:
    """Return whether one of the methods returns anything but 404 to the owner."""
    for method in methods:
        if (await send(as_owner, method, name, url)).status_code != 404:
            return True
    return False


async def _unknown(name: str, method: str, url: str, anonymous: AsyncClient) -> list[str]:
    response = await getattr(anonymous, method)(url)
    to_login = response.status_code == 302 and response["Location"].startswith(reverse("login"))
    if to_login or response.status_code in (401, 404, 405):
        return []
    return [f"{method.upper()} {url} ({name}) returns {response.status_code} to an anonymous client"]


# Split into several tests, so that workers can share them.
ROUTES = [name for name in MATRIX if name not in PUBLIC]
PARTS = [ROUTES[first::2] for first in range(2)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("names", PARTS, ids=range(len(PARTS)))
async def test_a_stranger_gets_404_from_every_route(
    owner: User, colleague: User, stranger: User, names: list[str]
) -> None:
    as_stranger, as_owner = await signed_in(stranger), await signed_in(owner)
    world = await in_database(make_world, owner, colleague)
    found, taken = [], {}
    for name in names:
        taken[name], wrong = await probe(name, MATRIX[name], world, as_stranger)
        found += wrong
        url, anonymous = reverse(name, kwargs=MATRIX[name](world)), AsyncClient()
        for method in METHODS:
            found += await _unknown(name, method, url, anonymous)
    # A 404 to a stranger proves nothing if the owner gets 404 too. The owner comes last, as objects may be deleted.
    for name in names:
        if await _there(name, reverse(name, kwargs=MATRIX[name](world)), taken[name], as_owner):
            continue
        world = await in_database(make_world, owner, colleague)
        if not await _there(name, reverse(name, kwargs=MATRIX[name](world)), taken[name], as_owner):
            found.append(f"{name} returns 404 even to its owner: {taken[name]}")
    await wait_for_all()
    assert found == [], "\n".join(found)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("route", SOCKETS)
async def test_a_stranger_is_refused_at_every_socket(owner: User, colleague: User, stranger: User, route: str) -> None:
    from ragsite.asgi import application

    world = await in_database(make_world, owner, colleague)
    outcomes = {}
    for user in (owner, stranger, None):
        client = AsyncClient()
        if user is not None:
            await client.aforce_login(user)
        cookie = "; ".join(f"{key}={morsel.value}" for key, morsel in client.cookies.items())
        headers = [(b"cookie", cookie.encode()), (b"origin", b"http://testserver"), (b"host", b"testserver")]
        socket = WebsocketCommunicator(application, SOCKETS[route](world), headers=headers)
        outcomes[user] = (await socket.connect(timeout=60))[0]
        await socket.disconnect(timeout=60)
    assert outcomes == {owner: True, stranger: False, None: False}


@pytest.mark.django_db
def test_stored_files_have_no_url(owner: User, colleague: User, as_owner: Client) -> None:
    world = make_world(owner, colleague)
    for file in (world.document.file, world.picture.file):
        assert file.storage.exists(file.name)
        for prefix in ("/", settings.MEDIA_URL, "/media/", settings.STATIC_URL):
            assert as_owner.get(prefix + file.name).status_code == 404


def admin_pages(world: World) -> Iterator[str]:
    things = (world.session, world.answer, world.answer.turn, world.base, world.document, world.token, world.owner)
    for item in (*things, world.question, world.run, world.run.evaluation_set):
        meta = item._meta
        for page in ("change", "history", "delete"):
            yield reverse(f"admin:{meta.app_label}_{meta.model_name}_{page}", args=[item.pk])
            yield reverse(f"admin:{meta.app_label}_{meta.model_name}_{page}", args=[item.pk + 999_999])


@pytest.mark.django_db
def test_the_admin_redirects_strangers_before_it_looks_up_objects(
    owner: User, colleague: User, as_stranger: Client, as_staff: Client
) -> None:
    world = make_world(owner, colleague)
    for url in [reverse("admin:index"), *admin_pages(world)]:
        for method in METHODS:
            response = getattr(as_stranger, method)(url)
            assert response.status_code == 302 and response["Location"].startswith(reverse("admin:login")), url
    assert as_staff.get(next(admin_pages(world))).status_code == 200
