"""Tests of ending answers whose process has died."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from conversations.models import ChatSession, Message, Turn
from conversations.turns import broker
from conversations.turns.live_log import LiveLog
from conversations.turns.orphans import LOOKS, Watch

pytestmark = pytest.mark.django_db

LOG = [{"type": "block_start", "seq": 1, "id": "b1", "kind": "text"},
       {"type": "delta", "seq": 2, "id": "b1", "text": "half an answer"}]  # fmt: skip


@pytest.fixture
def message(session: ChatSession) -> Message:
    turn = Turn.objects.create(session=session)
    return Message.objects.create(
        turn=turn, role="assistant", status="streaming", stream_log=LOG, last_seq=2, heartbeat_at=timezone.now()
    )


def looks(watch: Watch, count: int) -> list[int]:
    return [watch.look() for _look in range(count)]


def test_answer_without_heartbeat_is_ended_once(message: Message) -> None:
    first, second = Watch(), Watch()
    assert looks(first, LOOKS - 1) == looks(second, LOOKS - 1) == [0] * (LOOKS - 1)
    message.refresh_from_db()
    assert message.status == "streaming"
    assert (first.look(), second.look()) == (1, 0)
    message.refresh_from_db()
    assert (message.status, message.error_code, message.last_seq) == ("interrupted", "interrupted", 4)
    assert [event["type"] for event in message.stream_log] == ["block_start", "delta", "error", "done"]


def test_answer_of_another_process_is_kept_whatever_its_clock(message: Message) -> None:
    watch = Watch()
    for beat in range(3 * LOOKS):
        behind = timezone.now() - timedelta(hours=1) + timedelta(seconds=beat // (LOOKS - 1))
        Message.objects.filter(pk=message.pk).update(heartbeat_at=behind)
        assert watch.look() == 0


def test_answer_of_this_process_is_kept(message: Message, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(broker.running, message.pk, LiveLog())
    assert not any(looks(Watch(), 2 * LOOKS))


def test_heartbeats_get_time_after_an_outage(message: Message, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch()
    looks(watch, LOOKS - 1)

    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("the connection is closed")

    with monkeypatch.context() as patch:
        patch.setattr(Message.objects, "filter", away)
        assert watch.look() == 0
    assert looks(watch, LOOKS) == [0] * (LOOKS - 1) + [1]
