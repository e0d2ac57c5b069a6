"""Tests of calibrating token counts by the usage that providers report."""

import pytest
from django.contrib.auth.models import User
from hypothesis import given
from hypothesis import strategies as st

from conversations.models import ChatSession, TokenCalibration, TraceStep
from conversations.prompts import calibration
from knowledge.models import KnowledgeBase
from ragsite.llm.types import FinishPiece, TextPiece, UsagePiece
from tests.conversations.conftest import run_turn
from tests.fakes.llm import FakeLLM


@given(st.floats(0.5, 4.0), st.lists(st.tuples(st.integers(0, 20_000), st.integers(0, 100_000)), max_size=20))
def test_the_factor_stays_within_its_bounds(factor: float, reports: list[tuple[int, int]]) -> None:
    for estimated, reported in reports:
        factor = calibration.updated_factor(factor, estimated, reported) or factor
        assert calibration.LOWEST - 1e-9 <= factor <= calibration.HIGHEST + 1e-9


def test_factor_rises_quickly_and_falls_slowly() -> None:
    assert calibration.updated_factor(1.0, 1000, 1400) == pytest.approx(1.2)
    assert calibration.updated_factor(1.4, 1000, 1000) == pytest.approx(1.36)


@pytest.mark.parametrize(("estimated", "reported"), [(1000, 0), (1000, 300), (1000, 9000), (100, 130)])
def test_unusable_reports_are_ignored(estimated: int, reported: int) -> None:
    assert calibration.updated_factor(1.0, estimated, reported) is None


@pytest.mark.django_db
def test_factor_is_stored_per_model() -> None:
    assert calibration.factor_of("gpt-5") == calibration.FIRST
    assert calibration.factor_of("deepseek-chat") == 1.0
    for _ in range(12):
        calibration.report("gpt-5", 1000, 1300)
    calibration.report("gpt-5", 1000, 9000)
    assert calibration.factor_of("gpt-5") == pytest.approx(1.3, abs=0.001)
    assert calibration.factor_of("deepseek-chat") == 1.0
    assert TokenCalibration.objects.get().samples == 12


@pytest.mark.django_db(transaction=True)
async def test_turn_updates_the_factor_for_the_next_prompt(
    owner: User, handbook: KnowledgeBase, session: ChatSession, fake_llm: FakeLLM
) -> None:
    question = "How many ports has the TL-SE2109? " + "Please look carefully. " * 60
    fake_llm.enqueue([TextPiece("Nine [1]."), UsagePiece(800, 4), FinishPiece("stop")], "Nine again [1].")
    await run_turn(owner, session, question)
    await run_turn(owner, session, question)
    first, second = [step.detail async for step in TraceStep.objects.filter(key="compose_prompt").order_by("turn_id")]
    assert first["factor"] == calibration.FIRST < second["factor"]
    calibrated = await TokenCalibration.objects.aget()
    assert (calibrated.model, calibrated.samples) == ("fake-model", 1)
    assert second["factor"] == round(calibrated.factor, 3)
