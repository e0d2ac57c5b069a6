"""Questions with odd characters: invisible ones are not a question, and lone surrogates don't end the turn."""

import pytest
from django.contrib.auth.models import User

from conversations.models import ChatSession, Message, Turn
from conversations.turns import lifecycle
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
