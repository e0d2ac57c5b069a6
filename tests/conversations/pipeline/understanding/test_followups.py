"""Follow-up questions without a model: their queries, the bases searched, and the trace."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations import services
from conversations.history import PastTurn
from conversations.models import ChatSession, Turn
from conversations.pipeline.state import Past, Request, State
from conversations.pipeline.understanding.scope import Scope, known_words, searchable
from conversations.rendering.trace import steps
from knowledge.models import KnowledgeBase
from ragsite.db import in_database
from retrieval.engine import fulltext
from retrieval.engine.fulltext import Frequencies
from tests import factories
from tests.conversations.conftest import index_document, run_turn

pytestmark = pytest.mark.django_db(transaction=True)

FIRST = "How do I restore the factory settings of the switch?"


def facts(turn_id: int, owner: User) -> dict[str, list[str]]:
    """Return the facts on the trace's page about how a turn was understood."""
    shown = steps(Turn.objects.get(pk=turn_id), owner)
    found: dict[str, list[str]] = {}
    for label, value in next(step for step in shown if step.name == "Understand the question").facts:
        found.setdefault(label, []).append(value)
    return found


def asking(owner: User, session: ChatSession, question: str = "") -> Request:
    """Return a question in a session, limited to the session's selection."""
    scope = services.scope_of(session)
    bases, documents = tuple(scope["knowledge_bases"]), tuple(scope["documents"])
    return Request(owner.pk, session.pk, question, asked_knowledge_base_ids=bases, asked_document_ids=documents)


async def ask(owner: User, session: ChatSession, question: str) -> tuple[Turn, dict[str, list[str]]]:
    await run_turn(owner, session, question)
    turn = await session.turns.order_by("-pk").afirst()
    assert turn is not None
    return turn, await in_database(facts, turn.pk, owner)


async def test_words_that_a_question_depends_on_are_carried_over_and_shown(
    owner: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    await run_turn(owner, session, FIRST)
    turn, shown = await ask(owner, session, "How many ports does it have?")
    assert shown["Why"] == ["it refers to what came before"]
    carried = shown["Carried over"][0].split(" · ")
    assert carried == ["switch"], "the passages about ports are about the switch"
    assert shown["Query"] == ["How many ports does it have? × 0.5", "switch How many ports does it have?"]
    assert turn.retrieval_query == shown["Query"][1]


async def test_a_question_that_stands_alone_is_unchanged(
    owner: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    await run_turn(owner, session, FIRST)
    question = "How long does the warranty of the rack mounting kit last?"
    _turn, shown = await ask(owner, session, question)
    assert shown["Why"] == ["it stands alone"] and shown["Query"] == [question] and "Carried over" not in shown


async def test_expanded_queries_are_shown_with_their_weight(
    owner: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    await run_turn(owner, session, FIRST)
    _turn, shown = await ask(owner, session, "Warranty?")
    assert shown["Why"] == ["it is too short to stand alone"]
    assert shown["Query"][0] == "Warranty? × 0.5" and shown["Query"][1].endswith(" Warranty?")


async def test_words_are_counted_in_the_bases_of_the_session_alone(
    owner: User, colleague: User, handbook: KnowledgeBase, session: ChatSession
) -> None:
    def others() -> KnowledgeBase:
        index_document(factories.make_knowledge_base(colleague, "Theirs"), ("The switch of a stranger.",))
        mine = factories.make_knowledge_base(owner, "Mine")
        index_document(mine, ("Another switch.", "A switch again."))
        return mine

    mine = await in_database(others)

    async def known() -> Frequencies:
        request = await in_database(asking, owner, session, "Which?")
        return (await known_words(State(request, past=Past(turns=[PastTurn(1, "Which switch?", "")])))).frequencies

    found = await known()
    assert (found.size, found.holding["switch"]) == (6, 4)
    await session.knowledge_bases.aadd(mine)
    found = await known()
    assert (found.size, found.holding["switch"]) == (2, 2)


async def test_a_first_question_asks_for_no_frequencies(owner: User, session: ChatSession, monkeypatch: Any) -> None:
    monkeypatch.setattr(fulltext, "frequencies", None)
    known = await known_words(State(Request(owner.pk, session.pk, "Which switch?")))
    assert (known.frequencies.size, known.passages) == (0, ())


def test_a_session_searches_its_selection_of_readable_bases(owner: User, colleague: User, session: ChatSession) -> None:
    theirs, own = factories.make_knowledge_base(colleague, "Theirs"), factories.make_knowledge_base(owner, "Own")
    assert searchable(asking(owner, session)) == Scope((own.pk,), (), True)
    session.knowledge_bases.add(theirs)
    assert searchable(asking(owner, session)).knowledge_base_ids == ()
    session.knowledge_bases.add(own)
    assert searchable(asking(owner, session)).knowledge_base_ids == (own.pk,)


def test_a_session_searches_its_selection_of_readable_documents(
    owner: User, colleague: User, session: ChatSession
) -> None:
    theirs, own, other = (
        factories.make_knowledge_base(user, name) for user, name in ((colleague, "T"), (owner, "O"), (owner, "P"))
    )
    hidden, first, second, _third = (factories.make_document(base) for base in (theirs, own, own, other))
    session.documents.add(hidden)
    assert searchable(asking(owner, session)) == Scope((), (), True)
    session.documents.add(second, first)
    assert searchable(asking(owner, session)) == Scope((own.pk,), (first.pk, second.pk), True)
    first.delete()
    assert searchable(asking(owner, session)) == Scope((own.pk,), (second.pk,), True)


async def test_the_titles_of_a_few_selected_documents_are_known(owner: User, session: ChatSession) -> None:
    base = await in_database(factories.make_knowledge_base, owner)
    documents = [await in_database(factories.make_document, base, f"{name}.md") for name in "abcde"]

    async def titles() -> tuple[str, ...]:
        return (await known_words(State(await in_database(asking, owner, session, "What is this about?")))).titles

    assert await titles() == ()
    await session.documents.aset(documents[1:2])
    assert await titles() == ("b.md",)
    await session.documents.aset(documents)
    assert len(await titles()) == 3  # more would drown out the question


def test_an_inactive_user_searches_nothing(owner: User, session: ChatSession) -> None:
    factories.make_knowledge_base(owner)
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert searchable(asking(owner, session)).knowledge_base_ids == ()


def test_one_base_is_enough_to_forbid_general_knowledge(owner: User, session: ChatSession) -> None:
    generous, strict = (
        factories.make_knowledge_base(owner, answer_from_general_knowledge=allowed) for allowed in (True, False)
    )
    assert searchable(asking(owner, session)) == Scope((generous.pk, strict.pk), (), False)
    session.knowledge_bases.add(generous)
    assert searchable(asking(owner, session)) == Scope((generous.pk,), (), True)


def test_frequencies_are_those_of_the_bases_together(owner: User) -> None:
    bases = [factories.make_knowledge_base(owner, name) for name in ("A", "B")]
    index_document(bases[0], ("A red switch.", "A blue switch."))
    index_document(bases[1], ("A red router.",))
    known = fulltext.frequencies(["red", "switch", "lamp"], [base.pk for base in bases])
    assert (known.size, known.holding) == (3, {"red": 2, "switch": 2, "lamp": 0})
    assert known.rarity("lamp") == 0.0 and known.rarity("red") > 0
    assert fulltext.frequencies(["red"], [bases[1].pk]).holding == {"red": 1}
    assert fulltext.frequencies(["red"], []).size == 0
