"""Tests of summaries: when they are due, how they are written, and how users edit them."""

import asyncio
from collections.abc import Collection
from typing import Any

import pytest
from channels.layers import get_channel_layer
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from conversations import services
from conversations.groups import session_group
from conversations.history import PastTurn, branch_of
from conversations.memory import summaries
from conversations.memory.summaries import Draft, due, entry_of, extract, keep_up, summary_of
from conversations.models import ChatSession, ContextEntry, Message, Turn
from conversations.turns import lifecycle
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from ragsite.llm.errors import RateLimited
from ragsite.llm.passage_tokens import count_tokens
from tests.conversations.conftest import run_turn
from tests.conversations.test_services import make_turn
from tests.fakes.llm import FakeLLM
from tests.turns import wait_for_all

TEN = list(range(1, 11))


@pytest.fixture
def fake_llm(fake_llm: FakeLLM) -> FakeLLM:
    """Let the model also write summaries."""
    fake_llm.serves |= {"summary"}
    return fake_llm


def line(session: ChatSession, count: int, parent: Turn | None = None, name: str = "q") -> list[Turn]:
    made: list[Turn] = []
    for number in range(count):
        last = made[-1] if made else parent
        made.append(make_turn(session, last, f"{name}{number}?", f"Answer {name}{number}. More."))
    return made


def branch(session: ChatSession, leaf: Turn) -> list[int]:
    return branch_of(session.pk, leaf.pk)


def make_entry(session: ChatSession, first: Turn, last: Turn, content: str = "Ports.") -> ContextEntry:
    return ContextEntry.objects.create(
        session=session, turn=last, covers_from=first, type="summary", role="system", content=content
    )


@pytest.mark.parametrize(
    ("count", "covered", "cut", "expected"),
    [
        (5, None, [], []),
        (6, None, [], [1, 2, 3]),
        (8, 3, [], []),
        (9, 3, [], [4, 5, 6]),
        (10, None, [], [1, 2, 3, 4, 5, 6, 7]),
        (3, None, [1], [1, 2]),
        (3, None, [1, 2], [1, 2]),
        (1, None, [1], []),
        (4, 2, [1, 2], []),
    ],
)  # fmt: skip
def test_when_a_summary_is_due(count: int, covered: int | None, cut: Collection[int], expected: list[int]) -> None:
    assert due(TEN[:count], covered, cut) == expected


def test_long_branches_are_summarised_in_parts() -> None:
    long = list(range(100))
    assert due(long, None, []) == long[:20]
    assert due(long, 19, []) == long[20:40]


def test_rules_keep_each_question_and_the_beginning_of_its_answer() -> None:
    turns = [PastTurn(1, "How many\nports?", "Nine ports. " * 60), PastTurn(2, "保修多久？", "三年。")]
    text = extract(Draft(1, ContextEntry(content="- before"), turns, 1, 2))
    lines = text.splitlines()
    assert lines[0] == "- before"
    assert lines[1].startswith("- How many ports? → Nine ports. ") and lines[1].endswith("…")
    assert lines[2] == "- 保修多久？ → 三年。"


def test_rules_drop_the_oldest_lines_to_fit() -> None:
    turns = [PastTurn(number, f"Question {number}", "word " * 50) for number in range(30)]
    text = extract(Draft(1, None, turns, 1, 2))
    assert len(text) <= summaries.LONGEST_EXTRACT
    assert "Question 29" in text and "Question 0 " not in text


@pytest.mark.django_db(transaction=True)
class TestMaking:
    async def test_model_writes_the_summary_after_the_answer(
        self, owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        made = await in_database(line, session, 5)
        fake_llm.enqueue("Nine [1].", "<think>hm</think>They spoke of q0 to q2.")
        events = await run_turn(owner, session, "How many ports has the TL-SE2109 switch?", parent_turn_id=made[-1].pk)
        assert events[-1].type == "done"
        asked = fake_llm.calls[-1].messages[-1].content
        assert "User: q0?" in asked and "Assistant: Answer q2. More." in asked and "q3" not in asked
        entry = await ContextEntry.objects.aget(type="summary")
        assert (entry.turn_id, entry.covers_from_id) == (made[2].pk, made[0].pk)
        assert entry.content == "They spoke of q0 to q2."
        assert entry.tokens == count_tokens(entry.content)
        fake_llm.enqueue("Nine [1].")
        await run_turn(owner, session, "And the TL-SE2109 again, how many ports?")
        assert "<summary>\nThey spoke of q0 to q2.\n</summary>" in fake_llm.calls[-1].messages[0].content

    async def test_pages_of_the_session_are_notified(
        self, owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        made = await in_database(line, session, 5)
        layer = get_channel_layer()
        await layer.group_add(session_group(session.pk), page := await layer.new_channel())
        fake_llm.enqueue("Nine [1].", "They spoke of q0 to q2.")
        await run_turn(owner, session, "How many ports has the TL-SE2109 switch?", parent_turn_id=made[-1].pk)
        async with asyncio.timeout(30):
            while (await layer.receive(page))["type"] != "session.summarised":
                pass
        assert await ContextEntry.objects.filter(type="summary").aexists()

    async def test_summary_does_not_delay_the_answer(
        self, owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        made = await in_database(line, session, 5)
        ended = asyncio.Event()
        fake_llm.enqueue("Nine [1].", [ended])
        ask = lifecycle.Ask(session.pk, "How many ports has the TL-SE2109 switch?", parent_turn_id=made[-1].pk)
        started = await lifecycle.start_turn(owner, ask)
        before = 0
        while (await Message.objects.aget(pk=started.assistant_message_id)).status == "streaming":
            assert before <= 1
            before = len(fake_llm.calls)
        ended.set()
        await wait_for_all()
        assert len(fake_llm.calls) == 2

    async def test_rules_write_the_summary_without_a_model_or_if_it_fails(
        self, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        made = await in_database(line, session, 6)
        fake_llm.enqueue(RateLimited())
        await keep_up(session.pk, await in_database(branch, session, made[-1]), [], "en")
        entry = await ContextEntry.objects.aget(type="summary")
        assert entry.content.startswith("- q0? → Answer q0. More.\n- q1?")

    async def test_next_summary_continues_the_edited_one(self, session: ChatSession, fake_llm: FakeLLM) -> None:
        made = await in_database(line, session, 9)
        entry = await in_database(make_entry, session, made[0], made[2])
        await in_database(summaries.edit, entry, "Mended by hand.")
        fake_llm.enqueue("All of it.")
        await keep_up(session.pk, await in_database(branch, session, made[-1]), [], "en")
        asked = fake_llm.calls[0].messages[-1].content
        assert "Summary so far: Mended by hand." in asked and "q2" not in asked and "User: q3?" in asked
        newest = await ContextEntry.objects.filter(type="summary").alatest("id")
        assert (newest.content, newest.turn_id, newest.covers_from_id) == ("All of it.", made[5].pk, made[0].pk)

    async def test_concurrent_edit_by_the_user_wins(self, session: ChatSession, fake_llm: FakeLLM) -> None:
        made = await in_database(line, session, 9)
        entry = await in_database(make_entry, session, made[0], made[2])
        draft = await in_database(summaries._draft, session.pk, await in_database(branch, session, made[-1]), [])
        assert draft is not None
        await in_database(summaries.edit, entry, "Mine.")
        await in_database(summaries._store, draft, "The model's.")
        assert [item.content async for item in ContextEntry.objects.filter(type="summary")] == ["Mine."]

    async def test_cleared_turns_are_not_summarised_again(self, session: ChatSession, fake_llm: FakeLLM) -> None:
        made = await in_database(line, session, 9)
        path = await in_database(branch, session, made[-1])
        await in_database(make_entry, session, made[0], made[2])
        await in_database(summaries.clear, session.pk, path)
        assert await in_database(summary_of, session.pk, path) == ""
        fake_llm.enqueue("Only the rest.")
        await keep_up(session.pk, path, [], "en")
        asked = fake_llm.calls[0].messages[-1].content
        assert "q2" not in asked and "Summary so far" not in asked
        newest = await in_database(entry_of, session.pk, path)
        assert newest is not None
        assert (newest.content, newest.covers_from_id) == ("Only the rest.", made[3].pk)

    async def test_turn_cut_from_the_prompt_is_summarised(
        self, owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
    ) -> None:
        fake_llm.endpoint = type(fake_llm.endpoint)("http://fake.invalid/v1", model="fake", context_window=1400)
        made = await in_database(line, session, 3)
        await Message.objects.filter(turn=made[1], role="assistant").aupdate(content="Long. " * 900)
        fake_llm.enqueue("Nine [1].", "Told.")
        await run_turn(owner, session, "How many ports has the TL-SE2109 switch?", parent_turn_id=made[-1].pk)
        answer = await Message.objects.alatest("id")
        assert answer.usage["turns_left_out"] == 2
        assert (await ContextEntry.objects.aget(type="summary")).turn_id == made[2].pk


@pytest.mark.django_db
class TestBranches:
    def test_fork_shares_only_earlier_summaries(self, owner: User) -> None:
        session = services.create_session(owner)
        trunk = line(session, 6)
        make_entry(session, trunk[0], trunk[1], "Early.")
        make_entry(session, trunk[0], trunk[4], "Late.")
        fork = make_turn(session, trunk[2], "aside")
        assert summary_of(session.pk, branch(session, trunk[-1])) == "Late."
        assert summary_of(session.pk, branch(session, fork)) == "Early."
        assert summary_of(session.pk, branch(session, trunk[0])) == ""

    def test_summary_is_deleted_with_its_first_turn(self, owner: User) -> None:
        session = services.create_session(owner)
        trunk = line(session, 6)
        make_entry(session, trunk[0], trunk[4])
        trunk[0].delete()
        assert not ContextEntry.objects.filter(type="summary").exists()

    def test_there_is_one_per_turn(self, owner: User) -> None:
        session = services.create_session(owner)
        (turn,) = line(session, 1)
        make_entry(session, turn, turn)
        with pytest.raises(IntegrityError):
            make_entry(session, turn, turn)


@pytest.mark.django_db
class TestPageAndApi:
    @pytest.fixture
    def entry(self, owner: User) -> ContextEntry:
        session = services.create_session(owner)
        trunk = line(session, 6)
        make_entry(session, trunk[0], trunk[0], "Oldest.")
        return make_entry(session, trunk[0], trunk[2], "They <b>spoke</b> of ports.")

    def leaf(self, entry: ContextEntry) -> int:
        return entry.session.turns.latest("id").pk

    def form(self, entry: ContextEntry, **fields: Any) -> dict[str, Any]:
        return {"turn": self.leaf(entry), "entry": entry.pk, **fields}

    def test_the_page_shows_it_as_text(self, as_owner: Client, entry: ContextEntry) -> None:
        page = as_owner.get(reverse("session", args=[entry.session_id])).content.decode()
        assert "Summary of earlier turns" in page
        assert "They &lt;b&gt;spoke&lt;/b&gt; of ports." in page
        root = entry.session.turns.earliest("id")
        aside = make_turn(entry.session, root, "aside")
        page = as_owner.get(reverse("session", args=[entry.session_id]), {"turn": aside.pk}).content.decode()
        assert "Oldest." in page and "of ports" not in page

    def test_page_fetches_the_summary_of_its_branch(self, as_owner: Client, entry: ContextEntry) -> None:
        url, htmx = reverse("summary", args=[entry.session_id]), {"HX-Request": "true"}
        late = as_owner.get(url, {"parent_turn_id": self.leaf(entry)}, headers=htmx).content.decode()
        assert "They &lt;b&gt;spoke&lt;/b&gt; of ports." in late and "<details" in late and " open" not in late
        early = as_owner.get(url, {"parent_turn_id": entry.session.turns.earliest("id").pk}, headers=htmx)
        assert "Oldest." in early.content.decode()

    def test_user_edits_the_summary(self, as_owner: Client, entry: ContextEntry) -> None:
        url = reverse("summary", args=[entry.session_id])
        response = as_owner.post(url, self.form(entry, content=" Mine. "), headers={"HX-Request": "true"})
        assert "edited by you" in response.content.decode()
        entry.refresh_from_db()
        assert entry.content == "Mine." and entry.edited_at is not None
        assert entry.tokens == count_tokens("Mine.")

    def test_user_clears_the_summary_and_earlier_ones(self, as_owner: Client, entry: ContextEntry) -> None:
        response = as_owner.post(reverse("summary", args=[entry.session_id]), self.form(entry, clear="1", content="x"))
        assert response["Location"] == f"{reverse('session', args=[entry.session_id])}?turn={self.leaf(entry)}"
        assert [entry.content for entry in ContextEntry.objects.filter(type="summary")] == [""]
        assert "Summary of earlier turns" not in as_owner.get(response["Location"]).content.decode()

    def test_outdated_form_changes_nothing(self, as_owner: Client, entry: ContextEntry) -> None:
        older = ContextEntry.objects.get(content="Oldest.")
        form = self.form(entry, content="Mine.") | {"entry": older.pk}
        page = as_owner.post(reverse("summary", args=[entry.session_id]), form, headers={"HX-Request": "true"})
        assert "has changed meanwhile" in page.content.decode()
        assert not ContextEntry.objects.filter(content="Mine.").exists()

    def test_long_edit_is_refused(self, as_owner: Client, entry: ContextEntry) -> None:
        form = self.form(entry, content="x" * 4001)
        page = as_owner.post(reverse("summary", args=[entry.session_id]), form, headers={"HX-Request": "true"})
        assert "at most 4000 characters" in page.content.decode()

    def test_api_reads_edits_and_clears_the_summary(self, as_owner: Client, entry: ContextEntry) -> None:
        url = reverse("api-summary", args=[entry.session_id])
        assert as_owner.get(url).json()["content"] == entry.content
        assert as_owner.get(url, {"turn_id": entry.session.turns.earliest("id").pk}).json()["content"] == "Oldest."
        assert as_owner.put(url, {"content": "Mine."}, "application/json").json()["edited_at"]
        assert as_owner.put(url, {"content": "x" * 4001}, "application/json").status_code == 400
        assert as_owner.delete(url).status_code == 204
        assert as_owner.get(url).json()["content"] == ""
        assert as_owner.get(url, {"turn_id": 10**9}).status_code == 404
        for odd in ("0", "", "x", "٣"):
            assert as_owner.get(url, {"turn_id": odd}).status_code == 400


@pytest.mark.django_db
def test_versions_of_a_summary_are_kept_listed_and_restored(as_owner: Client, session: ChatSession) -> None:
    turns = line(session, 4)
    make_entry(session, turns[0], turns[1], "First.")
    entry = make_entry(session, turns[0], turns[2], "Second.")
    address = reverse("api-summary-versions", args=[session.pk])
    restore = reverse("api-restore-summary", args=[session.pk])

    def listed() -> list[tuple[int, str, bool, bool]]:
        names = ("version", "content", "edited", "is_current")
        return [tuple(item[name] for name in names) for item in as_owner.get(address).json()]  # type: ignore[misc]

    assert listed() == [(2, "Second.", False, True), (1, "First.", False, False)]
    as_owner.put(reverse("api-summary", args=[session.pk]), {"content": "Mine."}, content_type="application/json")
    as_owner.put(reverse("api-summary", args=[session.pk]), {"content": "Mine."}, content_type="application/json")
    assert listed()[:2] == [(3, "Mine.", True, True), (2, "Second.", False, False)]
    restored = as_owner.post(restore, {"version": 1}, content_type="application/json")
    assert (restored.status_code, restored.json()["content"]) == (200, "First.")
    assert [content for _number, content, *_rest in listed()] == ["First.", "Mine.", "Second.", "First."]
    assert as_owner.post(restore, {"version": 9}, content_type="application/json").status_code == 404
    assert as_owner.post(restore, {"version": 0}, content_type="application/json").status_code == 400
    entry.refresh_from_db()
    assert entry.content == "First." and entry.edited_at is not None
    # A summary that is cleared has no text left anywhere.
    as_owner.delete(reverse("api-summary", args=[session.pk]))
    assert listed() == []
    assert not ContextEntry.objects.filter(type="summary").exclude(content="", earlier=[]).exists()


@pytest.mark.django_db
def test_only_some_texts_before_edits_are_kept(session: ChatSession) -> None:
    turns = line(session, 2)
    entry = make_entry(session, turns[0], turns[0], "Text 0.")
    for number in range(1, summaries.MOST_VERSIONS + 5):
        summaries.edit(entry, f"Text {number}.")
    kept = summaries.versions(session.pk, branch(session, turns[1]))
    assert len(kept) == summaries.MOST_VERSIONS + 1 and kept[0].content == "Text 4."
    assert [version.is_current for version in kept] == [False] * summaries.MOST_VERSIONS + [True]


@pytest.mark.django_db
def test_earlier_versions_are_shown_and_restored_above_the_chat(as_owner: Client, session: ChatSession) -> None:
    turns = line(session, 3)
    entry = make_entry(session, turns[0], turns[1], "Written <first>.")
    address = reverse("summary", args=[session.pk])
    end = {"parent_turn_id": turns[-1].pk}
    htmx = {"HX-Request": "true"}
    shown = as_owner.get(address, end, headers=htmx).content.decode()
    assert "versions=1" in shown and 'name="restore"' not in shown
    assert "There is no earlier version." in as_owner.get(address, end | {"versions": 1}, headers=htmx).text
    summaries.edit(entry, "Mine.")
    shown = as_owner.get(address, end | {"versions": 1}, headers=htmx).content.decode()
    assert "Written &lt;first&gt;." in shown and shown.count('name="restore"') == 1
    form = {"turn": turns[-1].pk, "entry": entry.pk, "content": "Mine.", "restore": 1}
    assert "Written &lt;first&gt;.</textarea>" in as_owner.post(address, form, headers=htmx).content.decode()
    assert "versions=1" in as_owner.get(reverse("session", args=[session.pk])).content.decode()
