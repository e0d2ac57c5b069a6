"""The chat's admin: read-only records, versioned prompts and write-only keys."""

import json
from html import unescape
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from conversations.memory import facts
from conversations.models import (
    ChatLabel,
    ChatSession,
    ContextEntry,
    Draft,
    Feedback,
    MemoryFact,
    Message,
    ModelProfile,
    OwnInstructions,
    PromptTemplate,
    ShareLink,
    Turn,
    UnseenAnswer,
)
from conversations.prompts import templates
from conversations.prompts.profiles import Outcome
from ragsite.llm import secrets
from ragsite.llm.errors import Unauthorized
from ragsite.models import ApiToken
from tests import factories
from tests.changelists import changelist_of
from tests.conversations.records import make_session, make_turn

pytestmark = pytest.mark.django_db

RECORDS = ["chatsession", "turn", "message", "contextentry", "citation", "tracestep", "feedback", "sharelink"]
KEY = "sk-very-secret-key"


@pytest.fixture
def answer(owner: User) -> Message:
    answer = make_turn(make_session(owner, "Routers"), "Where is the <script>alert(1)</script> button?")
    session = answer.turn.session
    ContextEntry.objects.create(session=session, turn=answer.turn, type="chat", role="user", content="Where?")
    Feedback.objects.create(message=answer, user=owner, value=-1, reason="wrong", comment="Not there.")
    ShareLink.objects.create(session=session, last_turn=answer.turn)
    return answer


def changelist(model: str) -> str:
    return reverse(f"admin:conversations_{model}_changelist")


def change(item: Any) -> str:
    return reverse(f"admin:{item._meta.app_label}_{item._meta.model_name}_change", args=[item.pk])


def test_every_model_of_the_chat_is_registered() -> None:
    models = [*apps.get_app_config("conversations").get_models(), ApiToken]
    missing = [model for model in models if not admin.site.is_registered(model) and not model._meta.auto_created]
    assert set(missing) == {ChatLabel, Draft, MemoryFact, OwnInstructions, UnseenAnswer}, "these are private"


def test_the_admin_shows_only_the_number_of_remembered_facts(owner: User, as_staff: Client) -> None:
    facts.switch(owner.pk, True)
    facts.remember(owner.pk, "I have the flu")
    page = as_staff.get(changelist("memoryswitch"))
    assert page.context["cl"].result_list[0].fact_count == 1
    detail = as_staff.get(reverse("admin:conversations_memoryswitch_change", args=[owner.pk]))
    assert "flu" not in page.content.decode() + detail.content.decode()


def test_summaries_are_cleared_and_other_entries_stay(answer: Message, as_staff: Client) -> None:
    turn = answer.turn
    summary = ContextEntry.objects.create(
        session=turn.session, turn=turn, covers_from=turn, type="summary", role="system", content="They spoke."
    )
    before = ContextEntry.objects.exclude(pk=summary.pk).values_list("pk", "content")
    others = list(before)
    chosen = {"action": "clear_summaries", "_selected_action": [summary.pk, *(pk for pk, _content in others)]}
    as_staff.post(changelist("contextentry"), chosen)
    summary.refresh_from_db()
    assert summary.content == "" and list(before.all()) == others


@pytest.mark.parametrize("model", RECORDS)
def test_records_are_listed_searched_and_shown(answer: Message, as_staff: Client, staff: User, model: str) -> None:
    listed = as_staff.get(changelist(model))
    assert listed.status_code == 200 and listed.context["cl"].result_count >= 1
    item = listed.context["cl"].result_list[0]
    assert changelist_of(staff, type(item), {"q": "no such words anywhere"}).result_count == 0
    page = as_staff.get(change(item))
    assert page.status_code == 200 and b"<script>alert(1)" not in page.content
    assert b'name="_save"' not in page.content


@pytest.mark.parametrize("model", ["turn", "message", "contextentry", "citation", "tracestep"])
def test_the_newest_records_come_first(answer: Message, staff: User, model: str) -> None:
    cls = apps.get_model("conversations", model)
    before = {row.pk for row in changelist_of(staff, cls).result_list}
    later = make_turn(answer.turn.session, "And the other one?")
    ContextEntry.objects.create(session=later.turn.session, turn=later.turn, type="chat", role="user", content="And?")
    assert changelist_of(staff, cls).result_list[0].pk not in before


def test_a_session_shows_its_newest_turns_and_links_to_all(
    answer: Message, as_staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.admin.transcript.SHOWN_TURNS", 2)
    session = answer.turn.session
    first = make_turn(session, "Question 0?", parent=answer.turn).turn
    later = make_turn(session, "Question 1?", parent=first).turn
    make_turn(make_session(session.owner), "Somebody else's?")
    page = as_staff.get(change(session)).content.decode()
    assert "Question 0?" in page and "Question 1?" in page
    assert "Somebody else" not in page and "alert(1)" not in page and str(later.request_id) not in page
    assert f"?until={answer.turn_id}" in page
    earlier = as_staff.get(change(session), {"until": answer.turn_id}).content.decode()
    assert "&lt;script&gt;alert(1)" in earlier and "Question 1?" not in earlier
    everything = f"{changelist('turn')}?session__id__exact={session.pk}"
    assert f'href="{everything}">3</a>' in page
    assert {turn.session_id for turn in as_staff.get(everything).context["cl"].result_list} == {session.pk}


@pytest.mark.parametrize("model", [*RECORDS, "prompttemplate", "modelprofile"])
def test_every_list_can_be_filtered(answer: Message, staff: User, model: str) -> None:
    cls = apps.get_model("conversations", model)
    listed = changelist_of(staff, cls)
    assert listed.has_filters
    for spec in listed.filter_specs:
        for choice in spec.choices(listed):
            filtered = changelist_of(staff, cls, choice["query_string"])
            assert len(filtered.result_list) == filtered.result_count


@pytest.mark.parametrize("model", RECORDS)
def test_records_cannot_be_added_or_edited(answer: Message, as_staff: Client, model: str) -> None:
    item = apps.get_model("conversations", model)._default_manager.latest("pk")
    assert as_staff.get(reverse(f"admin:conversations_{model}_add")).status_code == 403
    assert as_staff.post(change(item), {"content": "Falsified", "title": "Falsified"}).status_code == 403


@pytest.mark.parametrize("model", sorted(set(RECORDS) - {"chatsession"}))
def test_only_sessions_can_be_deleted(answer: Message, as_staff: Client, model: str) -> None:
    item = apps.get_model("conversations", model)._default_manager.latest("pk")
    url = reverse(f"admin:conversations_{model}_delete", args=[item.pk])
    assert as_staff.post(url, {"post": "yes"}).status_code == 403


def test_deleting_a_session_deletes_all_its_records(answer: Message, as_staff: Client) -> None:
    url = reverse("admin:conversations_chatsession_delete", args=[answer.turn.session_id])
    asked = as_staff.get(url).content.decode()
    assert f"Trace steps: {answer.turn.trace.count()}" in asked and "Messages: 2" in asked
    assert "Trace step:" not in asked and change(answer.turn) not in asked, "counted, not listed"
    assert as_staff.post(url, {"post": "yes"}).status_code == 302
    assert not Turn.objects.exists() and not Message.objects.exists()


def test_deleting_a_user_deletes_their_chats(answer: Message, owner: User, as_staff: Client) -> None:
    url = reverse("admin:auth_user_delete", args=[owner.pk])
    assert as_staff.post(url, {"post": "yes"}).status_code == 302
    assert not ChatSession.objects.exists()


def test_a_turn_shows_messages_citations_and_trace(answer: Message, as_staff: Client) -> None:
    page = as_staff.get(change(answer.turn)).content.decode()
    assert "Hold the button [1]." in page
    assert "handbook.txt" in page and "Hold the reset button." in page
    assert "&quot;action&quot;: &quot;chat&quot;" in page


@pytest.mark.parametrize(
    ("model", "said", "raw"), [("contextentry", "用户", "user"), ("turn", "检索文档", "retrieve_vector")]
)
def test_roles_and_actions_have_labels(answer: Message, as_staff: Client, model: str, said: str, raw: str) -> None:
    row = as_staff.get(changelist(model)).context["cl"].result_list[0]
    for address in (changelist(model), change(row)):
        page = as_staff.get(address, headers={"accept-language": "zh-hans"}).content.decode()
        assert said in page and f">{raw}<" not in page, address


def test_the_title_of_a_link_is_its_session(answer: Message, as_staff: Client) -> None:
    assert "<h2>Routers</h2>" in as_staff.get(change(ShareLink.objects.get())).content.decode()


def test_the_variables_of_prompts_are_described_in_the_users_language(as_staff: Client) -> None:
    page = as_staff.get(reverse("admin:conversations_prompttemplate_add"), headers={"accept-language": "zh-hans"})
    assert "追问：{{ date }}" in page.content.decode()


def test_token_counts_are_readable(answer: Message, as_staff: Client) -> None:
    Message.objects.filter(pk=answer.pk).update(usage={"prompt_tokens": 2000, "completion_tokens": 300})
    for address in (change(answer), change(answer.turn)):
        page = as_staff.get(address).content.decode()
        assert "2,000 read, 300 written" in page and "prompt_tokens" not in page, address


def test_a_trace_speaks_the_reader_s_language(answer: Message, as_staff: Client) -> None:
    answer.turn.trace.create(order=7, key="one_of_mine", status="resting", started_at=timezone.now())
    for address in (changelist("tracestep"), change(answer.turn), change(answer.turn.trace.get(key="understand"))):
        page = as_staff.get(address, headers={"accept-language": "zh-hans"}).content.decode()
        assert "理解问题" in page and "已完成" in page, address
        assert ">completed<" not in page and "understand: " not in page and ">understand<" not in page, address
    listed = as_staff.get(changelist("tracestep"), {"key": "one_of_mine", "status": "resting"})
    assert listed.context["cl"].result_count == 1
    assert ">one of mine<" in listed.content.decode()


def test_turns_are_found_by_words_and_cost_the_same_for_any_number(
    answer: Message, as_staff: Client, django_assert_max_num_queries: Any
) -> None:
    for number in range(15):
        make_turn(answer.turn.session, f"Question number{number}?")
    with django_assert_max_num_queries(14):
        found = as_staff.get(changelist("turn"))
    assert found.context["cl"].result_count == 16


def test_feedback_is_filtered_by_its_value(answer: Message, staff: User) -> None:
    assert changelist_of(staff, Feedback, {"value__exact": "1"}).result_count == 0
    assert changelist_of(staff, Feedback, {"value__exact": "-1"}).result_count == 1


def test_share_links_are_revoked(answer: Message, as_staff: Client) -> None:
    link = ShareLink.objects.get()
    as_staff.post(changelist("sharelink"), {"action": "revoke", "_selected_action": [str(link.pk)]})
    link.refresh_from_db()
    assert link.revoked_at is not None


def test_viewers_cannot_revoke_links(answer: Message) -> None:
    looker = factories.make_user("looker", is_staff=True)
    looker.user_permissions.add(Permission.objects.get(codename="view_sharelink"))
    client = Client()
    client.force_login(looker)
    link = ShareLink.objects.get()
    client.post(changelist("sharelink"), {"action": "revoke", "_selected_action": [str(link.pk)]})
    link.refresh_from_db()
    assert link.revoked_at is None


# --- Prompts --------------------------------------------------------------------------------------


@pytest.fixture
def prompt() -> PromptTemplate:
    PromptTemplate.objects.all().delete()
    return PromptTemplate.objects.create(
        purpose="answer", language="en", system="Be brief.", user="{{ evidence }}\n{{ question }}"
    )


def test_saving_a_prompt_creates_and_activates_a_version(prompt: PromptTemplate, as_staff: Client) -> None:
    response = as_staff.post(change(prompt), {"system": "Be kind.", "user": prompt.user}, follow=True)
    assert response.status_code == 200
    newest = PromptTemplate.objects.get(active=True)
    assert (newest.version, newest.system, newest.user) == (2, "Be kind.", prompt.user)
    prompt.refresh_from_db()
    assert (prompt.version, prompt.system, prompt.active) == (1, "Be brief.", False)
    assert templates.get_prompt("answer", "en").system == "Be kind."


def test_saving_without_a_change_creates_no_version(prompt: PromptTemplate, as_staff: Client) -> None:
    as_staff.post(change(prompt), {"system": prompt.system, "user": prompt.user})
    assert PromptTemplate.objects.count() == 1


def test_an_old_version_can_be_edited_and_activated_again(prompt: PromptTemplate, as_staff: Client) -> None:
    as_staff.post(change(prompt), {"system": "Two.", "user": prompt.user})
    as_staff.post(change(prompt), {"system": "Three.", "user": prompt.user})
    assert PromptTemplate.objects.get(active=True).version == 3
    as_staff.post(changelist("prompttemplate"), {"action": "use", "_selected_action": [prompt.pk]})
    assert PromptTemplate.objects.get(active=True) == prompt
    assert PromptTemplate.objects.count() == 3


def test_two_versions_of_one_prompt_cannot_both_be_activated(prompt: PromptTemplate, as_staff: Client) -> None:
    as_staff.post(change(prompt), {"system": "Two.", "user": prompt.user})
    both = list(PromptTemplate.objects.values_list("pk", flat=True))
    page = as_staff.post(changelist("prompttemplate"), {"action": "use", "_selected_action": both}, follow=True)
    assert "Choose one version" in page.content.decode()
    assert PromptTemplate.objects.get(active=True).version == 2


def test_adding_a_prompt_that_already_has_an_active_version(prompt: PromptTemplate, as_staff: Client) -> None:
    body = {"purpose": "answer", "language": "en", "system": "New.", "user": "{{ evidence }} {{ question }}"}
    as_staff.post(reverse("admin:conversations_prompttemplate_add"), body)
    assert PromptTemplate.objects.get(active=True).version == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Answer {{ password }}", "password"),
        ("Answer {{ question", "}}"),
        ("{% include 'x' %}", "template tag"),
        ("Answer {{ question }}", "{{ evidence }}"),
    ],
)
def test_an_invalid_prompt_is_refused_with_a_message(
    prompt: PromptTemplate, as_staff: Client, text: str, words: str
) -> None:
    response = as_staff.post(change(prompt), {"system": prompt.system, "user": text})
    assert response.status_code == 200
    [error] = response.context["adminform"].form.errors["user"]
    assert words in error
    assert PromptTemplate.objects.count() == 1


def test_a_newer_default_is_offered_beside_the_site_s_own(prompt: PromptTemplate, as_staff: Client) -> None:
    offer = f"a newer default is available (version {prompt.version + 1})"
    assert offer not in as_staff.get(changelist("prompttemplate")).content.decode()
    PromptTemplate.objects.create(
        purpose=prompt.purpose, language=prompt.language, version=prompt.version + 1, shipped=True, active=False
    )
    address = reverse("admin:conversations_prompttemplate_change", args=[prompt.pk])
    for page in (changelist("prompttemplate"), address):
        assert offer in as_staff.get(page).content.decode()


def test_prompts_are_not_deleted(prompt: PromptTemplate, as_staff: Client) -> None:
    url = reverse("admin:conversations_prompttemplate_delete", args=[prompt.pk])
    assert as_staff.post(url, {"post": "yes"}).status_code == 403


# --- Models ---------------------------------------------------------------------------------------

PROFILE = {
    "purpose": "answer", "base_url": "https://model.example/v1/", "model": "m", "temperature": "0.3",
    "max_tokens": "2048", "context_window": "16384", "connect_timeout": "10", "idle_timeout": "60",
    "total_timeout": "600", "concurrency": "5", "enabled": "on",
}  # fmt: skip


@pytest.fixture
def profile(as_staff: Client) -> ModelProfile:
    as_staff.post(reverse("admin:conversations_modelprofile_add"), PROFILE | {"key": KEY})
    return ModelProfile.objects.get()


def key_of(profile: ModelProfile) -> str:
    profile.refresh_from_db()
    return secrets.decrypt(bytes(profile.encrypted_key))


def test_a_key_is_stored_encrypted_and_never_shown(profile: ModelProfile, as_staff: Client) -> None:
    assert key_of(profile) == KEY and KEY.encode() not in bytes(profile.encrypted_key)
    assert profile.base_url == "https://model.example/v1"
    page = as_staff.get(change(profile)).content.decode()
    assert KEY not in page and "A key is stored" in page


def test_an_empty_key_field_keeps_the_stored_key(profile: ModelProfile, as_staff: Client) -> None:
    as_staff.post(change(profile), PROFILE | {"model": "other", "key": ""})
    assert key_of(profile) == KEY and profile.model == "other"


def test_a_key_is_replaced_and_removed(profile: ModelProfile, as_staff: Client) -> None:
    as_staff.post(change(profile), PROFILE | {"key": "another"})
    assert key_of(profile) == "another"
    as_staff.post(change(profile), PROFILE | {"remove_key": "on"})
    assert key_of(profile) == ""


def test_a_key_is_not_sent_to_a_different_server(profile: ModelProfile, as_staff: Client) -> None:
    moved = PROFILE | {"base_url": "https://elsewhere.example/v1"}
    refused = as_staff.post(change(profile), moved).content.decode()
    assert "belongs to the previous address" in refused and key_of(profile) == KEY
    assert profile.base_url == "https://model.example/v1"
    as_staff.post(change(profile), PROFILE | {"base_url": "https://model.example/v2"})
    assert (key_of(profile), profile.base_url) == (KEY, "https://model.example/v2")
    as_staff.post(change(profile), moved | {"key": "its-own"})
    assert (key_of(profile), profile.base_url) == ("its-own", "https://elsewhere.example/v1")


@pytest.mark.parametrize("key", ["sk-abc\u200b", "sk-abc\ndef", "ключ"])
def test_an_invalid_key_is_refused(profile: ModelProfile, as_staff: Client, key: str) -> None:
    page = as_staff.post(change(profile), PROFILE | {"key": key})
    assert "invalid characters" in page.content.decode() and key_of(profile) == KEY


def test_a_key_is_not_sent_back_with_an_invalid_form(profile: ModelProfile, as_staff: Client) -> None:
    response = as_staff.post(change(profile), PROFILE | {"key": "typed-secret", "temperature": "9"})
    assert response.status_code == 200 and "typed-secret" not in response.content.decode()


@pytest.mark.parametrize(
    ("purpose", "temperature", "max_tokens"),
    [
        ("chat", 0.7, 2048),
        ("understand", 0.3, 1024),
        ("rewrite", 0.3, 50),
        ("rerank", 0.0, 2048),
        ("answer", 0.3, 2048),
    ],
)
def test_empty_fields_get_defaults_for_the_purpose(
    as_staff: Client, purpose: str, temperature: float, max_tokens: int
) -> None:
    url = reverse("admin:conversations_modelprofile_add")
    assert 'name="temperature"' in (page := as_staff.get(url).content.decode())
    assert 'name="temperature" value' not in page
    as_staff.post(url, PROFILE | {"purpose": purpose, "temperature": "", "max_tokens": ""})
    profile = ModelProfile.objects.get()
    assert (profile.temperature, profile.max_tokens) == (temperature, max_tokens)
    url = reverse("admin:conversations_modelprofile_change", args=[profile.pk])
    as_staff.post(url, PROFILE | {"purpose": purpose, "temperature": "1", "max_tokens": "9"})
    profile.refresh_from_db()
    assert (profile.temperature, profile.max_tokens) == (1.0, 9)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", "-0.1"),
        ("temperature", "2.1"),
        ("max_tokens", "0"),
        ("context_window", "1023"),
        ("connect_timeout", "0"),
        ("idle_timeout", "-1"),
        ("total_timeout", "0.5"),
    ],
)
def test_values_that_would_make_every_question_fail_are_refused(
    profile: ModelProfile, as_staff: Client, field: str, value: str
) -> None:
    response = as_staff.post(change(profile), PROFILE | {field: value})
    assert list(response.context["adminform"].form.errors) == [field]
    assert getattr(ModelProfile.objects.get(), field) == getattr(profile, field)


def test_a_purpose_has_one_enabled_profile(profile: ModelProfile, as_staff: Client) -> None:
    url = reverse("admin:conversations_modelprofile_add")
    response = as_staff.post(url, PROFILE)
    [error] = response.context["adminform"].form.errors["enabled"]
    assert str(profile) in error
    as_staff.post(url, {name: value for name, value in PROFILE.items() if name != "enabled"})
    assert ModelProfile.objects.count() == 2


@pytest.mark.parametrize("works", [True, False])
def test_saving_and_testing_reports_the_result(
    profile: ModelProfile, as_staff: Client, monkeypatch: pytest.MonkeyPatch, works: bool
) -> None:
    async def try_profile(tried: ModelProfile) -> Outcome:
        return Outcome(works, f"{tried.model}: came of it")

    monkeypatch.setattr("conversations.prompts.profiles.try_profile", try_profile)
    page = as_staff.post(change(profile), PROFILE | {"model": "new", "_test": "1"}, follow=True)
    message = list(page.context["messages"])[-1]
    assert str(message) == "new: came of it" and message.level_tag == ("success" if works else "error")
    page = as_staff.post(changelist("modelprofile"), {"action": "test", "_selected_action": [profile.pk]}, follow=True)
    assert [str(told) for told in page.context["messages"]] == ["new: came of it"]


def test_encryption_is_authenticated_and_bound_to_the_sites_secret(settings: Any) -> None:
    assert secrets.decrypt(secrets.encrypt("密钥")) == "密钥"
    assert secrets.encrypt("x") != secrets.encrypt("x")
    assert secrets.encrypt("") == b"" and secrets.decrypt(b"") == ""
    kept = secrets.encrypt("x")
    settings.SECRET_KEY = "another"
    with pytest.raises(Unauthorized, match=r"Enter the API key again"):
        secrets.decrypt(kept)


# --- The site's own -------------------------------------------------------------------------------


def test_tokens_can_be_revoked_but_not_created_or_shown(owner: User, as_staff: Client) -> None:
    token = ApiToken.objects.create(user=owner, name="backup", digest="d" * 64)
    page = as_staff.get(change(token)).content.decode()
    assert "backup" in page and token.digest not in page
    assert as_staff.get(reverse("admin:ragsite_apitoken_add")).status_code == 403
    as_staff.post(reverse("admin:ragsite_apitoken_delete", args=[token.pk]), {"post": "yes"})
    assert not ApiToken.objects.exists()


def test_the_index_opens(answer: Message, as_staff: Client) -> None:
    page = as_staff.get(reverse("admin:index"))
    assert page.status_code == 200 and "Ragsite administration" in page.content.decode()


def test_record_admins_refuse_without_a_page(answer: Message, staff: User) -> None:
    request = RequestFactory().get("/")
    request.user = staff
    assert not admin.site.get_model_admin(Turn).has_delete_permission(request)


def test_numbers_in_a_trace_are_rounded(answer: Message, as_staff: Client) -> None:
    step, citation = answer.turn.trace.get(key="understand"), answer.citations.get()
    seen = {"score": 0.016393442622950821, "none": 0.0, "less": -0.50004999, "at": 1732563771.25, "count": 1234567}
    step.detail, citation.sources = {"hits": [seen]}, {"bm25": {"score": 12.345678901}}
    step.save()
    citation.save()

    def told(page: str) -> Any:
        shown = as_staff.get(page).content.decode().partition('<pre tabindex="0">')[2].partition("</pre>")[0]
        return json.loads(unescape(shown))

    rounded = {"score": 0.01639, "none": 0.0, "less": -0.5, "at": 1732563771.0, "count": 1234567}
    assert told(change(step)) == {"hits": [rounded]}
    assert told(change(citation)) == {"bm25": {"score": 12.35}}
    step.refresh_from_db()
    assert step.detail == {"hits": [seen]}
