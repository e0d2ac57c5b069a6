"""Connecting a model in the admin, with a fake provider over HTTP."""

import json
import socket
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import Permission
from django.contrib.sessions.models import Session
from django.test import AsyncClient, Client
from django.urls import reverse

from conversations.models import ModelProfile
from conversations.prompts.profiles import try_profile
from ragsite.llm import secrets
from ragsite.llm.chat import THINKING
from ragsite.models import AuditEntry
from tests import factories
from tests.fakes.provider import FakeProvider

pytestmark = pytest.mark.django_db

ADDRESS, CHOOSE, TEST, ASK = (
    reverse(f"admin:conversations_modelprofile_set_up{step}") for step in ("", "_choose", "_test", "_ask")
)
KEY = "sk-very-secret-key"
QUESTION = "Why is the sky blue?"


@pytest.fixture(autouse=True)
def no_ollama(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing() -> list[str]:
        return []

    monkeypatch.setattr("ragsite.llm.default.notice_ollama", nothing)


def look(client: Client, url: str, **more: Any) -> Any:
    return client.post(ADDRESS, {"base_url": url, "own": "on", "key": KEY} | more)


def chosen(client: Client, **more: Any) -> Any:
    """Choose a model, and test it as without scripts."""
    client.post(CHOOSE, {"model": "fake-model", "question": QUESTION} | more)
    return client.post(TEST, {"now": "1"})


async def told(client: AsyncClient, question: str = QUESTION) -> list[dict[str, Any]]:
    """Choose a model, and return the messages streamed during the test."""
    await client.post(CHOOSE, {"model": "fake-model", "question": question})
    response: Any = await client.post(ASK)
    return [json.loads(line) async for lines in response for line in lines.decode().splitlines() if line]


def save(client: Client, **more: Any) -> Any:
    plan = client.get(TEST).context["form"].fields["plan"].initial
    return client.post(TEST, {"save": "1", "plan": plan} | more)


def test_a_key_must_be_entered_again_if_the_address_is_refused(provider: FakeProvider, as_staff: Client) -> None:
    page = as_staff.post(ADDRESS, {"base_url": provider.root_url, "key": KEY}).content.decode()
    assert "Enter it once more" in page and KEY not in page
    assert "Enter it once more" not in as_staff.post(ADDRESS, {"base_url": provider.root_url}).content.decode()


def test_a_model_is_found_tested_and_saved_for_every_purpose(provider: FakeProvider, as_staff: Client) -> None:
    assert look(as_staff, provider.root_url).headers["Location"] == CHOOSE
    page = as_staff.get(CHOOSE).content.decode()
    assert "fake-model" in page and KEY not in page
    assert chosen(as_staff).headers["Location"] == TEST
    page = as_staff.get(TEST).content.decode()
    assert f"You said: {QUESTION}" in page and "Time to first token" in page
    assert "reasons before it answers" in page  # the fake provider does
    assert KEY not in page
    assert not ModelProfile.objects.exists()
    assert save(as_staff, thinking="enable_thinking").status_code == 302
    profiles = {profile.purpose: profile for profile in ModelProfile.objects.all()}
    assert set(ModelProfile.Purpose.values) - set(profiles) == {"rerank", "embedding"}
    assert {(each.model, each.base_url, each.enabled) for each in profiles.values()} == {
        ("fake-model", provider.root_url, True)
    }
    assert all(secrets.decrypt(bytes(each.encrypted_key)) == KEY for each in profiles.values())
    assert profiles["rewrite"].max_tokens == 2048 and profiles["rewrite"].thinking == "enable_thinking"
    assert as_staff.get(TEST).headers["Location"] == ADDRESS
    entry = AuditEntry.objects.get(action=AuditEntry.Action.MODEL)
    assert (entry.object_name, entry.details["endpoint"]) == ("fake-model", provider.root_url)
    assert entry.details["what"] == "added" and set(entry.details["purposes"]) == set(profiles)
    listed = as_staff.get(reverse("admin:ragsite_auditentry_changelist")).content.decode()
    assert f"endpoint: {provider.root_url}" in listed and "purposes: Answer, Chat" in listed


def test_the_key_is_encrypted_between_the_steps(provider: FakeProvider, as_staff: Client) -> None:
    look(as_staff, provider.root_url)
    assert f"Bearer {KEY}" in [headers.get("Authorization") for headers in provider.listed]
    assert all(KEY not in str(session.get_decoded()) for session in Session.objects.all())


def test_purposes_can_have_different_models(provider: FakeProvider, as_staff: Client) -> None:
    provider.models = ["large", "small", "text-embedding-small", "bge-reranker"]
    look(as_staff, provider.root_url)
    form = as_staff.get(CHOOSE).context["form"]
    assert {"for_embedding", "for_rerank"} <= set(form.fields)
    assert [name for name, _told in form.fields["for_embedding"].choices] == ["", "text-embedding-small"]
    chosen(as_staff, model="large", for_rewrite="small", for_embedding="text-embedding-small")
    assert {trial.model for trial in as_staff.get(TEST).context["draft"].trials} == {
        "large", "small", "text-embedding-small",
    }  # fmt: skip
    save(as_staff)
    models = dict(ModelProfile.objects.values_list("purpose", "model"))
    assert (models["answer"], models["rewrite"], models["embedding"]) == ("large", "small", "text-embedding-small")
    assert "rerank" not in models


def test_a_profile_in_use_is_replaced_only_after_confirmation(provider: FakeProvider, as_staff: Client) -> None:
    old = ModelProfile.objects.create(purpose="answer", base_url="https://old.example.org/v1", model="old")
    look(as_staff, provider.root_url)
    chosen(as_staff)
    page = as_staff.get(TEST).content.decode()
    assert "fake-model replaces old (https://old.example.org/v1)" in page
    refused = save(as_staff)
    assert refused.status_code == 422 and "may be changed" in refused.content.decode()
    assert list(ModelProfile.objects.all()) == [old]
    assert save(as_staff, confirmed="on").status_code == 302
    old.refresh_from_db()
    assert not old.enabled and ModelProfile.objects.get(purpose="answer", enabled=True).model == "fake-model"
    entry = AuditEntry.objects.get(action=AuditEntry.Action.MODEL)
    assert entry.details["what"] == "changed" and entry.details["before"] == ["old"]

    look(as_staff, provider.root_url, key="")  # the stored profile stays in use
    chosen(as_staff)
    assert save(as_staff, confirmed="on").status_code == 302
    assert AuditEntry.objects.get(action=AuditEntry.Action.MODEL) == entry, "nothing has changed"


def test_a_missing_key_is_not_an_error_if_none_is_needed(as_staff: Client) -> None:
    told = {"own": "none needed", "elsewhere": "none stored", "with": "stored"}
    for purpose, (name, _words) in zip(("answer", "chat", "rewrite"), told.items(), strict=True):
        key = secrets.encrypt(KEY) if name == "with" else b""
        model = ModelProfile(purpose=purpose, base_url="https://x.example/v1", model=name, encrypted_key=key)
        model.own_network = name == "own"
        model.save()
    page = as_staff.get(reverse("admin:conversations_modelprofile_changelist")).content.decode()
    for name, words in told.items():
        assert f'<td class="field-model">{name}</td>' in page
        row = page.partition(f'<td class="field-model">{name}</td>')[2].partition("</tr>")[0]
        assert f'<td class="field-has_key">{words}</td>' in row and "icon-no" not in row.partition("field-enabled")[0]


def test_changes_that_were_not_reviewed_are_not_made(provider: FakeProvider, as_staff: Client) -> None:
    look(as_staff, provider.root_url)
    chosen(as_staff)
    plan = as_staff.get(TEST).context["form"].fields["plan"].initial
    ModelProfile.objects.create(purpose="answer", base_url="https://new.example.org/v1", model="new")
    refused = as_staff.post(TEST, {"save": "1", "plan": plan, "confirmed": "on"})
    assert refused.status_code == 422 and "have changed since" in refused.content.decode()
    assert ModelProfile.objects.get(enabled=True).model == "new"


def test_the_same_model_gets_its_new_key_in_place(provider: FakeProvider, as_staff: Client) -> None:
    old = ModelProfile.objects.create(
        purpose="answer", base_url=provider.root_url, model="fake-model", encrypted_key=secrets.encrypt("sk-old")
    )
    look(as_staff, provider.root_url, key="")
    assert provider.listed[-1]["Authorization"] == "Bearer sk-old"
    look(as_staff, provider.root_url)
    chosen(as_staff)
    save(as_staff, confirmed="on")
    assert secrets.decrypt(bytes(ModelProfile.objects.get(purpose="answer").encrypted_key)) == KEY
    assert ModelProfile.objects.get(purpose="answer").pk == old.pk


def test_a_stored_key_is_not_sent_elsewhere(provider: FakeProvider, as_staff: Client) -> None:
    ModelProfile.objects.create(
        purpose="answer", base_url="https://api.example.org/v1", model="m", encrypted_key=secrets.encrypt("sk-old")
    )
    look(as_staff, provider.root_url, key="")
    assert "Authorization" not in provider.listed[-1]


@pytest.mark.parametrize(
    ("listing", "said"),
    [
        ((401, {"error": {"message": "Incorrect API key"}}), "rejected the key"),
        ((404, {"detail": "Not Found"}), "no list of models at this address (404)"),
        ((200, b"<html>Welcome to nginx</html>"), "offer an OpenAI-compatible API"),
        ((500, {"error": "out of memory"}), "failed. See its log for details."),
        ((302, b""), "redirects elsewhere"),
    ],
)
def test_errors_are_explained_with_a_solution(
    provider: FakeProvider, as_staff: Client, listing: tuple[int, Any], said: str
) -> None:
    provider.listing = listing
    response = look(as_staff, provider.root_url)
    page = response.content.decode()
    assert response.status_code == 422 and said in page and KEY not in page


def test_a_required_key_is_reported(provider: FakeProvider, as_staff: Client) -> None:
    provider.listing = (401, {"error": "no"})
    assert "requires a key (401)" in look(as_staff, provider.root_url, key="").content.decode()


def test_a_refused_connection_is_reported(as_staff: Client) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert "nothing is listening there" in look(as_staff, f"http://127.0.0.1:{port}/v1").content.decode()
    assert "http://" in look(as_staff, f"http://127.0.0.1:{port}/v1").content.decode()


def test_a_server_without_tls_is_distinguished_from_a_wrong_key(provider: FakeProvider, as_staff: Client) -> None:
    assert "use TLS at this address" in look(as_staff, provider.root_url.replace("http:", "https:")).content.decode()


def test_a_local_address_is_only_used_after_confirmation(provider: FakeProvider, as_staff: Client) -> None:
    response = as_staff.post(ADDRESS, {"base_url": provider.root_url})
    assert response.status_code == 422 and "is on this machine" in response.content.decode()
    assert provider.connections == 0


@pytest.mark.parametrize("url", ["http://169.254.169.254/v1", "ftp://10.0.0.1/v1", "http://user:pw@10.0.0.1/v1"])
def test_some_addresses_are_always_refused(as_staff: Client, url: str) -> None:
    assert look(as_staff, url).status_code == 422


def test_a_name_that_resolves_to_another_address_is_refused(
    provider: FakeProvider, as_staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = int(provider.root_url.rsplit(":", 1)[1].split("/")[0])
    leads_to, resolve = "127.0.0.1", socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *args, **kwargs: resolve(leads_to if host == "model.test" else host, *args, **kwargs),
    )
    provider.models = ["large", "text-embedding-small"]
    assert look(as_staff, f"http://model.test:{port}/v1").headers["Location"] == CHOOSE
    chosen(as_staff, model="large", for_embedding="text-embedding-small")
    trials = as_staff.get(TEST).context["draft"].trials
    assert {trial.model: trial.works for trial in trials} == dict.fromkeys(provider.models, True)
    assert {headers["Host"] for headers in (*provider.listed, *provider.headers)} == {f"model.test:{port}"}
    save(as_staff)
    asked = len(provider.requests)
    leads_to = "169.254.169.254"
    chosen_profiles = [*ModelProfile.objects.filter(purpose__in=["answer", "embedding"])]
    assert [profile.own_network for profile in chosen_profiles] == [True, True]
    for profile in chosen_profiles:
        outcome = async_to_sync(try_profile)(profile)
        assert not outcome.works and "reserved for network services" in outcome.message
    look(as_staff, provider.root_url)
    chosen(as_staff, model="large")
    assert len(provider.requests) > asked


@pytest.mark.parametrize("purpose", ["answer", "rerank", "embedding"])
def test_a_profile_can_use_a_local_address_only_after_confirmation(
    provider: FakeProvider, as_staff: Client, purpose: str
) -> None:
    profile = ModelProfile.objects.create(purpose=purpose, base_url=provider.base_url, model="fake-model")
    tested = {"action": "test", "_selected_action": [profile.pk]}
    page = as_staff.post(reverse("admin:conversations_modelprofile_changelist"), tested, follow=True)
    where = (
        "for embedding, tick “Our own server” there"
        if purpose == "embedding"
        else "“Our own server” in its model profile"
    )
    assert where in page.content.decode()
    assert provider.connections == 0
    form = as_staff.get(change := reverse("admin:conversations_modelprofile_change", args=[profile.pk]))
    filled = {key: value for key, value in form.context["adminform"].form.initial.items() if value is not None}
    refused = as_staff.post(change, filled | {"base_url": f"{provider.base_url}/more"})
    assert "Confirm that the server is yours" in refused.content.decode()
    as_staff.post(change, filled | {"own_network": "on"})
    profile.refresh_from_db()
    assert profile.own_network
    as_staff.post(reverse("admin:conversations_modelprofile_changelist"), tested, follow=True)
    assert provider.connections == 1


def test_a_name_that_does_not_resolve_is_reported(as_staff: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*args: Any, **kwargs: Any) -> Any:
        raise socket.gaierror("Temporary failure")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    response = look(as_staff, "http://model.test/v1", without_list="1")
    assert response.status_code == 422 and "There is no server named" in response.content.decode()


def test_without_a_list_the_name_is_entered(provider: FakeProvider, as_staff: Client) -> None:
    provider.listing = (404, {"detail": "Not Found"})
    assert b"without_list" in look(as_staff, provider.root_url).content
    assert look(as_staff, provider.root_url, without_list="1").headers["Location"] == CHOOSE
    chosen(as_staff, model="typed-model")
    assert as_staff.get(TEST).context["draft"].trials[0].works
    assert {request["model"] for request in provider.requests} == {"typed-model"}


def test_a_failing_model_is_explained_and_can_still_be_saved(provider: FakeProvider, as_staff: Client) -> None:
    look(as_staff, provider.root_url)
    provider.fail(404, {"error": {"message": "model not found"}})
    chosen(as_staff)
    page = as_staff.get(TEST).content.decode()
    assert "doesn't answer" in page and "no model with this name" in page and "Save anyway" in page
    as_staff.post(TEST, {"now": "1"})
    assert as_staff.get(TEST).context["all_work"]


def test_json_output_is_tested(provider: FakeProvider, as_staff: Client) -> None:
    look(as_staff, provider.root_url)
    provider.reply("Because of Rayleigh scattering.", delay=0.02)
    provider.reply('```json\n{"capital": "Paris"}\n```')
    chosen(as_staff)
    trial = as_staff.get(TEST).context["draft"].trials[0]
    assert trial.json is True and trial.thinks is False and trial.streams is True


@pytest.mark.parametrize(
    ("thoughts", "field", "facts"),
    [
        (["", "Hm."], "reasoning_effort", "not if asked"),
        (["Hm.", "Hm.", ""], "thinking", "not if asked"),
        (["Hm."] * 4, "always", "steps before an answer follow rules"),
    ],
)
def test_a_model_that_thinks_is_asked_not_to(
    provider: FakeProvider, as_staff: Client, thoughts: list[str], field: str, facts: str
) -> None:
    look(as_staff, provider.root_url)
    provider.reply("Because of Rayleigh scattering.", thinking="Let me see.")
    for thought in thoughts:
        provider.reply("Because of Rayleigh scattering.", thinking=thought)
    chosen(as_staff)
    page = as_staff.get(TEST)
    assert page.context["draft"].trials[0].thinking_off == page.context["form"].initial["thinking"] == field
    assert facts in page.content.decode()
    save(as_staff)
    assert set(ModelProfile.objects.values_list("thinking", flat=True)) == {field}
    if field != "always":
        asked = next(request for request in reversed(provider.requests) if THINKING[field][0] in request)
        assert asked[THINKING[field][0]] == THINKING[field][2]


def test_an_answer_that_was_not_streamed_is_reported(
    provider: FakeProvider, as_staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.admin.model_setup.probe._SLOW_MS", -1)
    look(as_staff, provider.root_url)
    provider.reply("Because the air scatters blue light more than red light. " * 3, tokens_per_chunk=1000)
    chosen(as_staff)
    page = as_staff.get(TEST).content.decode()
    assert "doesn't stream" in page and "arrived all at once" in page


@pytest.mark.parametrize("permissions", [[], ["view_modelprofile"], ["add_modelprofile"], ["change_modelprofile"]])
def test_users_who_cannot_change_profiles_cannot_connect_models(provider: FakeProvider, permissions: list[str]) -> None:
    user = factories.make_user("helper", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    for address in (ADDRESS, CHOOSE, TEST, ASK):
        assert client.get(address).status_code == 403
        assert client.post(address, {"base_url": provider.root_url, "own": "on"}).status_code == 403
    assert provider.connections == 0


def test_a_member_is_sent_to_sign_in(as_owner: Client) -> None:
    assert as_owner.get(ADDRESS).status_code == 302


def test_the_pages_follow_one_another(as_staff: Client) -> None:
    assert as_staff.get(CHOOSE).headers["Location"] == ADDRESS
    assert as_staff.get(TEST).headers["Location"] == ADDRESS
    assert as_staff.get(ASK).status_code == 405 and as_staff.post(ASK).status_code == 409
    page = as_staff.get(ADDRESS, {"provider": "deepseek"}).content.decode()
    assert 'value="https://api.deepseek.com/v1"' in page


@pytest.mark.parametrize(
    ("key", "address", "own"),
    [("lmstudio", "http://127.0.0.1:1234/v1", True), ("zhipu", "https://open.bigmodel.cn/api/paas/v4", False)],
)
def test_the_usual_address_of_a_provider_is_filled_in(as_staff: Client, key: str, address: str, own: bool) -> None:
    page = as_staff.get(ADDRESS, {"provider": key}).content.decode()
    assert f'value="{address}"' in page and ('name="own"' in page) is own


def test_the_test_starts_only_after_the_page_is_loaded(provider: FakeProvider, as_staff: Client) -> None:
    look(as_staff, provider.root_url)
    as_staff.post(CHOOSE, {"model": "fake-model", "question": QUESTION})
    page = as_staff.get(TEST).content.decode()
    assert provider.requests == [] and ASK in page and '<button type="submit" name="now"' in page
    as_staff.post(TEST, {"now": "1"})
    assert "You said" in as_staff.get(TEST).content.decode()
    as_staff.post(TEST, {"again": "1"})
    assert ASK in as_staff.get(TEST).content.decode()


@pytest.mark.django_db(transaction=True)
async def test_the_output_of_a_model_is_streamed(provider: FakeProvider, as_staff: Client) -> None:
    await sync_to_async(look)(as_staff, provider.root_url)
    provider.reply("Because of the air.", "Let me think.", delay=0.01)
    client = AsyncClient()
    client.cookies = as_staff.cookies
    lines = await told(client)
    assert lines[-1] == {"done": True} and {line.get("model") for line in lines[:-1]} == {"fake-model"}
    assert "".join(line.get("thinking", "") for line in lines) == "Let me think."
    assert "".join(line.get("text", "") for line in lines) == "Because of the air."
    assert len(lines) > 5
    page = (await client.get(TEST)).content.decode()
    assert "Because of the air." in page and "Let me think." in page and "reasons before it answers" in page


@pytest.mark.django_db(transaction=True)
async def test_a_cut_off_answer_is_reported_and_kept(provider: FakeProvider, as_staff: Client) -> None:
    await sync_to_async(look)(as_staff, provider.root_url)
    provider.cut_after(3, "One two three four five six.", delay=0.01)
    client = AsyncClient()
    client.cookies = as_staff.cookies
    lines = await told(client)
    assert "The answer was cut off" in lines[-2]["error"]
    page = await client.get(TEST)
    [trial] = page.context["draft"].trials
    assert not trial.works and trial.reply.startswith("One two") and trial.reply in page.content.decode()


@pytest.mark.django_db(transaction=True)
async def test_a_concurrent_set_up_is_kept(provider: FakeProvider, as_staff: Client) -> None:
    await sync_to_async(look)(as_staff, provider.root_url)
    client = AsyncClient()
    client.cookies = as_staff.cookies
    await client.post(CHOOSE, {"model": "fake-model", "question": QUESTION})
    response: Any = await client.post(ASK)
    await client.post(CHOOSE, {"model": "fake-model", "question": "Another question?"})
    async for _lines in response:
        pass
    draft = (await client.get(TEST)).context["draft"]
    assert (draft.question, draft.trials) == ("Another question?", [])
