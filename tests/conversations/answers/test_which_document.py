"""Questions about one document whose name fits several: the answer asks which one, and the choice answers."""

import pytest
from django.contrib.auth.models import User
from django.http import Http404
from django.test import AsyncClient, Client
from django.urls import reverse

from conversations import services
from conversations.models import ChatSession, Message, TraceStep
from conversations.sharing import export, links
from conversations.turns import lifecycle
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from tests import factories
from tests.conversations.conftest import index_document, run_turn
from tests.turns import wait_for_all

pytestmark = pytest.mark.django_db(transaction=True)

REVENUE = "What was the revenue in the annual report?"
REVENUE_ZH = "年度报告里的营业收入是多少？"


@pytest.fixture
def base(owner: User) -> KnowledgeBase:
    base = factories.make_knowledge_base(owner, "Reports")
    for year, million in ((2021, "48.2"), (2022, "53.7"), (2023, "51.9")):
        index_document(base, (f"The revenue was {million} million euros.",), f"Annual report {year}.md")
        index_document(base, (f"营业收入是{million}百万元。",), f"年度报告{year}.md")
    index_document(base, ("The revenue is counted in the month of delivery.",), "Bookkeeping.md")
    return base


async def answer_to(owner: User, session: ChatSession, question: str) -> Message:
    await run_turn(owner, session, question)
    return await latest()


async def latest() -> Message:
    return await Message.objects.select_related("turn").filter(role="assistant").alatest("pk")


def names(message: Message) -> list[str]:
    return [choice["name"] for block in message.blocks for choice in block.get("choices", ())]


@pytest.mark.parametrize(
    ("question", "asked", "name", "fact"),
    [
        (REVENUE, "Several documents fit", "Annual report {}.md", "53.7 million"),
        (REVENUE_ZH, "", "年度报告{}.md", "53.7百万"),
    ],
)
async def test_the_question_is_answered_from_the_document_that_is_chosen(
    owner: User, session: ChatSession, base: KnowledgeBase, question: str, asked: str, name: str, fact: str
) -> None:
    message = await answer_to(owner, session, question)
    assert message.turn.action == "clarify" and message.content.startswith(asked)
    assert names(message) == [name.format(year) for year in (2023, 2022, 2021)]
    assert name.format(2022) in message.content
    chosen = message.blocks[-1]["choices"][1]["document_id"]
    await lifecycle.regenerate(owner, message.pk, document_id=chosen)
    await wait_for_all()
    answer = await latest()
    assert fact in answer.content and "48.2" not in answer.content and "51.9" not in answer.content
    assert answer.turn.parent_turn_id == message.turn.parent_turn_id
    # Answered again, it is still about that document.
    await lifecycle.regenerate(owner, answer.pk)
    await wait_for_all()
    assert (await latest()).content == answer.content


@pytest.mark.parametrize(
    ("question", "reply", "fact"),
    [
        (REVENUE, "The 2022 one", "53.7"),
        (REVENUE, "the last one", "48.2"),
        (REVENUE_ZH, "2021年的那份", "48.2"),
        ("Summarise the annual report", "2023", "51.9"),
    ],
)
async def test_the_document_can_be_named_in_words(
    owner: User, session: ChatSession, base: KnowledgeBase, question: str, reply: str, fact: str
) -> None:
    assert names(await answer_to(owner, session, question))
    answer = await answer_to(owner, session, reply)
    million = {"48.2", "51.9", "53.7"}
    assert {each for each in million if each in answer.content} == {fact}


async def test_another_question_is_no_choice(owner: User, session: ChatSession, base: KnowledgeBase) -> None:
    await answer_to(owner, session, REVENUE)
    assert "month of delivery" in (await answer_to(owner, session, "When is the revenue counted?")).content


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("What was the revenue in the 2022 annual report?", "What was the revenue?"),
        ("2022年度报告中营业收入是多少？", "营业收入是多少？"),
        ("2022年度報告中營業收入是多少？", "營業收入是多少？"),
        ("What is in the 2022 annual report?", "What is in the 2022 annual report?"),
    ],
)
async def test_the_name_of_the_source_is_not_searched_for(
    owner: User, session: ChatSession, base: KnowledgeBase, question: str, searched: str
) -> None:
    message = await answer_to(owner, session, question)
    step = await TraceStep.objects.aget(turn_id=message.turn_id, key="search")
    assert {ranking["query"] for ranking in step.detail["rankings"]} == {searched}
    assert len(step.detail["documents"]) == 1


async def test_nothing_found_in_a_named_document_says_how_to_search_the_others(
    owner: User, session: ChatSession, base: KnowledgeBase
) -> None:
    message = await answer_to(owner, session, "How many dogs bark at night in the 2022 annual report?")
    assert message.answer_state == "nothing" and "ask without naming it" in message.content


@pytest.mark.parametrize(
    "question",
    [
        "What was the revenue in the 2022 annual report?",
        "What was the revenue in the annual reports?",
        "What is the deposit in the annual report?",
        "How is the revenue counted?",
    ],
)
async def test_other_questions_are_answered(
    owner: User, session: ChatSession, base: KnowledgeBase, question: str
) -> None:
    message = await answer_to(owner, session, question)
    assert message.turn.action == "retrieve_vector" and not names(message)


async def test_a_document_that_alone_answers_is_not_asked_for(owner: User, session: ChatSession) -> None:
    base = await in_database(factories.make_knowledge_base, owner)
    await in_database(index_document, base, ("Descale the machine every two months.",), "Coffee machine manual.md")
    await in_database(index_document, base, ("The paper tray holds 250 sheets.",), "Printer manual.md")
    message = await answer_to(owner, session, "How many sheets does the paper tray hold according to the manual?")
    assert "250 sheets" in message.content


async def test_the_document_of_the_last_answer_is_meant_again(
    owner: User, session: ChatSession, base: KnowledgeBase
) -> None:
    await answer_to(owner, session, "What was the revenue in the 2022 annual report?")
    assert "53.7" in (await answer_to(owner, session, REVENUE)).content
    assert "53.7" in (await answer_to(owner, session, "Summarise the annual report")).content


def store_report(base: KnowledgeBase, year: int, title: str, *passages: str) -> None:
    document = factories.make_document(base, f"{title}{year}.md", title=title)
    factories.make_chunks(document, passages, heading_path=[title])
    factories.index_document(document.pk)


@pytest.mark.parametrize(
    ("title", "figure", "asked", "follow_up"),
    [
        (
            "Annual report",
            "Revenue was {0}.7 million euros. Profit was {0}.3 million euros.",
            "What was the revenue in the 2022 annual report?",
            "And the profit?",
        ),
        (
            "年度报告",
            "营业收入为{0}.7亿元。净利润为{0}.3亿元。",
            "2022年度报告中营业收入是多少？",
            "那净利润呢？",
        ),
    ],
)
async def test_a_follow_up_keeps_to_the_version_that_the_last_answer_cites(
    owner: User, session: ChatSession, title: str, figure: str, asked: str, follow_up: str
) -> None:
    base = await in_database(factories.make_knowledge_base, owner)
    for year in (2021, 2022, 2023):
        await in_database(store_report, base, year, title, figure.format(year - 2000))
    await answer_to(owner, session, asked)
    profit = (await answer_to(owner, session, follow_up)).content
    assert "22.3" in profit and "23." not in profit and "21." not in profit


async def test_a_summary_asks_before_it_reads(owner: User, session: ChatSession, base: KnowledgeBase) -> None:
    message = await answer_to(owner, session, "Summarise the annual report")
    assert len(names(message)) == 3
    await lifecycle.regenerate(owner, message.pk, document_id=message.blocks[-1]["choices"][0]["document_id"])
    await wait_for_all()
    assert "51.9" in (await latest()).content and "48.2" not in (await latest()).content


async def test_a_choice_among_attached_files_searches_no_other_file(owner: User, session: ChatSession) -> None:
    own = await in_database(lambda: KnowledgeBase.objects.create(owner=owner, name="Files", of_chat=True))
    session.files = own
    await session.asave()
    await in_database(index_document, own, ("The deposit is 900 euros.",), "Lease of May.md")
    await in_database(index_document, own, ("The deposit is 700 euros.",), "Lease of June.md")
    other = await in_database(factories.make_knowledge_base, owner)
    await in_database(index_document, other, ("The deposit is 500 euros.",), "Lease of July.md")
    message = await answer_to(owner, session, "What is the deposit in the lease?")
    assert names(message) == ["Lease of May.md", "Lease of June.md"]
    await lifecycle.regenerate(owner, message.pk, document_id=message.blocks[-1]["choices"][1]["document_id"])
    await wait_for_all()
    assert "700" in (await latest()).content and "900" not in (await latest()).content


async def test_only_an_offered_document_can_be_chosen(
    owner: User, session: ChatSession, base: KnowledgeBase, as_owner: Client
) -> None:
    message = await answer_to(owner, session, REVENUE)
    other = await base.documents.aget(original_filename="Bookkeeping.md")
    with pytest.raises(Http404):
        await lifecycle.regenerate(owner, message.pk, document_id=other.pk)
    path = f"/api/chat/messages/{message.pk}"
    body = {"document_id": other.pk}
    refused = await in_database(lambda: as_owner.post(f"{path}/regenerate", body, "application/json"))
    assert refused.status_code == 404
    shown = await in_database(lambda: as_owner.get(path).json())
    assert [choice["name"] for choice in shown["blocks"][-1]["choices"]] == names(message)


async def test_the_choices_work_without_scripts_and_are_a_list_where_nothing_can_be_chosen(
    owner: User, session: ChatSession, base: KnowledgeBase, as_owner: Client, anonymous: Client
) -> None:
    message = await answer_to(owner, session, REVENUE)
    page = (await in_database(as_owner.get, f"/c/{session.pk}/")).content.decode()
    chosen = message.blocks[-1]["choices"][1]
    assert f'name="document_id" value="{chosen["document_id"]}"' in page and f"<span>{chosen['name']}</span>" in page
    link = await in_database(links.create_link, session)
    shared = (await in_database(anonymous.get, f"/shared/{link.pk}/")).content.decode()
    assert f"<li>{chosen['name']}</li>" in shared and "document_id" not in shared
    assert f"- {chosen['name']}" in await in_database(export.markdown, session)
    client = AsyncClient()
    await client.aforce_login(owner)
    await client.post(reverse("regenerate", args=[message.pk]), {"document_id": chosen["document_id"]})
    await wait_for_all()
    assert "53.7" in (await latest()).content


async def test_a_summary_of_some_document_offers_the_newest(owner: User) -> None:
    base = await in_database(factories.make_knowledge_base, owner)
    for number in range(1, 4):
        await in_database(index_document, base, (f"Passage {number}.",), f"Paper {number}.md")
    session = await in_database(services.create_session, owner)
    assert names(await answer_to(owner, session, "Summarise this document")) == [
        "Paper 3.md", "Paper 2.md", "Paper 1.md",
    ]  # fmt: skip
    for number in range(4, 8):
        await in_database(index_document, base, (f"Passage {number}.",), f"Paper {number}.md")
    message = await answer_to(owner, session, "Summarise this document")
    assert names(message) == [f"Paper {number}.md" for number in (7, 6, 5, 4, 3)] and "newest" in message.content
