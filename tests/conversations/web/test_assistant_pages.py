"""Assistants' pages, and choosing an assistant in a chat."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from conversations.models import Assistant, ChatSession, ModelProfile
from knowledge.models import KnowledgeBase
from tests import factories
from tests.conversations.assistants.conftest import make_assistant  # noqa: F401
from tests.conversations.records import make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def curator() -> User:
    user = factories.make_user("curator")
    user.user_permissions.add(Permission.objects.get(codename="change_assistant"))
    return user


@pytest.fixture
def as_curator(curator: User) -> Client:
    client = Client()
    client.force_login(curator)
    return client


def form(**fields: Any) -> dict[str, Any]:
    return {"name": "Help desk", "enabled": "on", "everyone": "on"} | fields


def test_a_curator_creates_changes_and_restores_an_assistant(as_curator: Client, curator: User) -> None:
    base = factories.make_knowledge_base(curator, "Handbook")
    made = as_curator.post(
        reverse("new-assistant"),
        form(
            knowledge_bases=[base.pk], pipeline="quick", option_ANSWER_TOP_K="8", option_ENABLE_RERANK="false",
            greeting="Ask me.", questions="One?\n\n Two? ",
        ),
    )  # fmt: skip
    assistant = Assistant.objects.get(name="Help desk")
    assert made.status_code == 302 and made["Location"] == reverse("assistant", args=[assistant.pk])
    assert assistant.versions.get().configuration == {
        "knowledge_bases": [base.pk],
        "pipeline": "quick",
        "settings": {"ANSWER_TOP_K": 8, "ENABLE_RERANK": False},
        "greeting": "Ask me.",
        "questions": ["One?", "Two?"],
    }
    page = as_curator.get(reverse("assistant", args=[assistant.pk])).content.decode()
    assert 'value="8"' in page and "Two?" in page
    assert page.count('<details class="card" open>') == 1, "sections with values are open"
    as_curator.post(reverse("assistant", args=[assistant.pk]), form())
    assert assistant.versions.order_by("-number").values_list("configuration", flat=True).first() == {}
    as_curator.post(reverse("assistant", args=[assistant.pk]), form(name="Desk"))
    assert Assistant.objects.get(pk=assistant.pk).name == "Desk" and assistant.versions.count() == 2
    as_curator.post(reverse("restore-version", args=[assistant.pk, 1]))
    newest = assistant.versions.first()
    assert newest is not None and (newest.number, newest.user) == (3, curator)
    assert newest.configuration["pipeline"] == "quick"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"option_ANSWER_TOP_K": "101"}, "less than or equal to 100"),
        ({"option_RERANK_BLEND": "magic:1"}, "Valid names are"),
        ({"pipeline": "magic"}, "magic is not one of the available choices"),
        ({"name": "Ragsite"}, "already exists"),
        ({"questions": "\n".join("abcdefghi")}, "must be a list of at most 8"),
    ],
)
def test_an_invalid_form_is_explained_and_not_saved(as_curator: Client, fields: dict[str, str], says: str) -> None:
    answer = as_curator.post(reverse("new-assistant"), form(**fields))
    assert answer.status_code == 422 and says in answer.content.decode()
    assert Assistant.objects.count() == 1


def test_bases_that_a_curator_cannot_read_are_hidden_and_kept(
    as_curator: Client,
    owner: User,
    make_assistant: Any,  # noqa: F811
) -> None:
    base = factories.make_knowledge_base(owner, "Private salaries")
    assistant = make_assistant("Pay", {"knowledge_bases": [base.pk]})
    assert "Private salaries" not in as_curator.get(reverse("assistant", args=[assistant.pk])).content.decode()
    refused = as_curator.post(reverse("new-assistant"), form(knowledge_bases=[base.pk]))
    assert refused.status_code == 422
    as_curator.post(reverse("assistant", args=[assistant.pk]), form(name="Pay", greeting="Hello."))
    newest = assistant.versions.first()
    assert newest is not None
    assert newest.configuration == {"knowledge_bases": [base.pk], "greeting": "Hello."}


def test_the_default_assistant_stays_available_to_everyone(as_curator: Client) -> None:
    default = Assistant.objects.get(is_default=True)
    answer = as_curator.post(reverse("assistant", args=[default.pk]), {"name": "Ragsite", "enabled": "on"})
    assert answer.status_code == 422 and "The default assistant must be enabled" in answer.content.decode()
    as_curator.post(reverse("delete-assistant", args=[default.pk]))
    assert Assistant.objects.filter(pk=default.pk).exists()


def test_copying_exporting_importing_deleting(as_curator: Client, make_assistant: Any) -> None:  # noqa: F811
    assistant = make_assistant("Help desk", {"pipeline": "quick"})
    as_curator.post(reverse("copy-assistant", args=[assistant.pk]))
    copy = Assistant.objects.get(name="Help desk (copy)")
    assert not copy.enabled and copy.versions.get().configuration == {"pipeline": "quick"}
    file = as_curator.get(reverse("export-assistant", args=[assistant.pk]))
    assert file["Content-Disposition"] == 'attachment; filename="help-desk.json"'
    as_curator.post(reverse("delete-assistant", args=[assistant.pk]))
    upload = SimpleUploadedFile("a.json", file.content, "application/json")
    as_curator.post(reverse("import-assistant"), {"file": upload})
    assert Assistant.objects.get(name="Help desk").versions.get().configuration == {"pipeline": "quick"}
    for wrong in (SimpleUploadedFile("a.json", b"nothing"), SimpleUploadedFile("a.json", b" " * 1_100_000), ""):
        answer = as_curator.post(reverse("import-assistant"), {"file": wrong}, follow=True)
        assert "not valid JSON" in answer.content.decode() or "at most 1 MB" in answer.content.decode()
    page = as_curator.get(reverse("assistants")).content.decode()
    assert page.count('class="card"') >= 3 and "disabled" in page


def test_the_list_shows_who_can_use_each_assistant(as_curator: Client, curator: User, make_assistant: Any) -> None:  # noqa: F811
    desk, _none = make_assistant("Help desk", everyone=False), make_assistant("Unused", everyone=False)
    desk.groups.add(Group.objects.create(name="Support"))
    desk.people.add(curator)
    page = as_curator.get(reverse("assistants")).content.decode()
    for said in ("Available to everyone", "Available to: Support, curator", "Available to nobody"):
        assert page.count(said) == 1, said
    page = as_curator.get(reverse("assistants"), headers={"accept-language": "zh-hans"}).content.decode()
    assert "Support、curator" in page


def test_the_pages_are_hidden_from_other_users(as_owner: Client, make_assistant: Any) -> None:  # noqa: F811
    assistant = make_assistant("Help desk")
    for name in ("assistants", "new-assistant"):
        assert as_owner.get(reverse(name)).status_code == 404
    assert as_owner.get(reverse("assistant", args=[assistant.pk])).status_code == 404
    assert as_owner.post(reverse("delete-assistant", args=[assistant.pk])).status_code == 404


def test_an_assistant_is_chosen_below_the_question(
    as_owner: Client,
    owner: User,
    make_assistant: Any,  # noqa: F811
) -> None:
    session = make_session(owner)
    address = reverse("session", args=[session.pk])
    assert "Assistant" not in as_owner.get(address).content.decode(), "there is no choice"
    says = {"greeting": "Ask me about leave.", "questions": ["How many days off are there?"]}
    desk = make_assistant("Help desk", says, description="For staff")
    hidden = make_assistant("Hidden", everyone=False)
    page = as_owner.get(address).content.decode()
    assert "Assistant" in page and "For staff" in page and "Hidden" not in page
    chosen = as_owner.post(
        reverse("choose-assistant", args=[session.pk]), {"assistant": desk.pk}, headers={"HX-Request": "true"}
    )
    assert 'id="scope"' in chosen.content.decode() and "Help desk" in chosen.content.decode()
    assert "Ask me about leave." in chosen.content.decode(), "the empty chat shows the new greeting"
    page = as_owner.get(address).content.decode()
    assert "Ask me about leave." in page and "How many days off are there?" in page
    refused = as_owner.post(reverse("choose-assistant", args=[session.pk]), {"assistant": hidden.pk})
    assert refused.status_code == 404
    assert ChatSession.objects.get(pk=session.pk).assistant == desk
    Assistant.objects.filter(pk=desk.pk).update(enabled=False)
    assert "No longer available" in as_owner.get(address).content.decode()


def test_a_model_is_chosen_below_the_question(as_owner: Client, owner: User) -> None:
    session = make_session(owner)
    address = reverse("choose-assistant", args=[session.pk])
    ModelProfile.objects.create(purpose="answer", base_url="http://m/v1", model="usual")
    ModelProfile.objects.create(purpose="answer", base_url="http://m/v1", model="large", enabled=False, offered=True)
    assert 'value="large"' in as_owner.get(reverse("session", args=[session.pk])).content.decode()
    as_owner.post(address, {"model": "large"})
    assert ChatSession.objects.get(pk=session.pk).model == ModelProfile.objects.get(model="large")
    refused = as_owner.post(address, {"model": "secret"})
    assert refused.status_code == 409 and "Available models: usual, large" in refused.content.decode()
    as_owner.post(address, {"model": ""})
    assert ChatSession.objects.get(pk=session.pk).model is None


def test_trying_an_assistant_opens_an_empty_chat_with_it(
    as_owner: Client,
    make_assistant: Any,  # noqa: F811
) -> None:
    desk = make_assistant("Help desk")
    answer = as_owner.post(reverse("ask-assistant", args=[desk.pk]))
    session = ChatSession.objects.get(assistant=desk)
    assert answer["Location"] == reverse("session", args=[session.pk])


def test_the_admin_has_the_same_form(as_staff: Client, handbook: KnowledgeBase) -> None:
    address = reverse("admin:conversations_assistant_add")
    assert "option_ANSWER_TOP_K" in as_staff.get(address).content.decode()
    made = as_staff.post(address, form(option_ANSWER_TOP_K="7", knowledge_bases=[]))
    assert made.status_code == 302, made.content.decode()[:500]
    assistant = Assistant.objects.get(name="Help desk")
    assert assistant.versions.get().configuration == {"settings": {"ANSWER_TOP_K": 7}}
    change = reverse("admin:conversations_assistant_change", args=[assistant.pk])
    assert 'value="7"' in as_staff.get(change).content.decode()
    as_staff.post(change, form(option_ANSWER_TOP_K="9"))
    assert [each.number for each in assistant.versions.all()] == [2, 1]
    version = assistant.versions.first()
    assert version is not None
    shown = as_staff.get(reverse("admin:conversations_assistantversion_change", args=[version.pk]))
    assert "ANSWER_TOP_K" in shown.content.decode()


def test_a_newcomer_sees_the_first_fields_and_advanced_ones_once_they_are_set(as_curator: Client) -> None:
    def is_open(page: Any) -> bool:
        return '<details class="advanced" open' in page.content.decode()

    simple = {"instructions": "In at most two sentences.", "description": "For the desk"}
    as_curator.post(reverse("new-assistant"), form(**simple))
    assistant = Assistant.objects.get(name="Help desk")
    assert assistant.versions.get().configuration == {"instructions": "In at most two sentences."}
    address = reverse("assistant", args=[assistant.pk])
    assert not is_open(as_curator.get(reverse("new-assistant"))) and not is_open(as_curator.get(address))
    assert is_open(as_curator.post(address, form(**simple, option_ANSWER_TOP_K="many")))
    as_curator.post(address, form(**simple, greeting="Ask me."))
    assert is_open(as_curator.get(address))
    long = as_curator.post(address, form(instructions="x" * 2001))
    assert long.status_code == 422 and "2000" in long.content.decode()
