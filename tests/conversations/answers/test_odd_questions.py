"""Questions with odd characters and misspelt words."""

import pytest
from django.contrib.auth.models import User

from conversations.models import ChatSession, Message, TraceStep, Turn
from conversations.pipeline.nodes.search import Search
from conversations.turns import lifecycle
from knowledge.models import KnowledgeBase
from tests.conversations.conftest import run_turn

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("question", ["", " \n\t", "\u200b\u2028\ufeff", "\u202e \u3000", "\x00\x07"])
async def test_a_question_of_invisible_characters_is_refused(owner: User, session: ChatSession, question: str) -> None:
    with pytest.raises(lifecycle.TurnRefused) as refused:
        await lifecycle.start_turn(owner, lifecycle.Ask(session.pk, question))
    assert refused.value.code == "empty_question"
    assert not await Turn.objects.aexists()


@pytest.mark.parametrize(
    ("question", "stored"),
    [
        ("Ports\ud83d?", "Ports\ufffd?"),
        ("\udc00 ports", "\ufffd ports"),
        ("\ud83d\ude00 po\x00rts?", "😀 ports?"),
        ("?", "?"),
        ("\u202eمرحبا\u202c", "\u202eمرحبا\u202c"),
    ],
)
async def test_lone_surrogates_do_not_end_the_turn(
    owner: User, session: ChatSession, question: str, stored: str
) -> None:
    await run_turn(owner, session, question)
    asked, answer = [message async for message in Message.objects.order_by("pk")]
    assert asked.content == stored
    assert answer.status == Message.Status.COMPLETED


@pytest.mark.parametrize(
    ("question", "state"), [("How long is the warrenty?", "answered"), ("Who pinted the Mona Lisa?", "nothing")]
)
async def test_a_misspelt_question_is_judged_as_it_is_searched(
    owner: User, session: ChatSession, handbook: KnowledgeBase, question: str, state: str
) -> None:
    await run_turn(owner, session, question)
    answer = await Message.objects.aget(role="assistant")
    assert answer.answer_state == state
    step = await TraceStep.objects.aget(key="search")
    facts = dict(Search().describe(step.detail).facts)
    assert facts.get("Spelling corrected") == ("warrenty → warranty" if state == "answered" else None)
