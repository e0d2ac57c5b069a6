"""Settings that change while the site runs: precedence, scope, and time of effect."""

import logging

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from ragsite.db import in_database
from ragsite.models import SettingChange, SiteSetting
from ragsite.site_settings.config import change, config, pin, pinned, refresh, stored

pytestmark = pytest.mark.django_db


def test_what_is_stored_counts_once_it_is_read(settings: Settings) -> None:
    settings.FUSED_K = 12
    assert config.FUSED_K == 12
    SiteSetting.objects.create(name="FUSED_K", value="30")  # as another process does it
    assert config.FUSED_K == 12
    refresh(older_than=3600)
    assert config.FUSED_K == 30, "nothing had been read yet"
    SiteSetting.objects.update(value="40")
    refresh(older_than=3600)
    assert config.FUSED_K == 30
    refresh()
    assert config.FUSED_K == 40


def test_variables_of_the_site_are_settings_by_their_short_names() -> None:
    SiteSetting.objects.create(name="RAGSITE_MAX_UPLOAD_MB", value="7")
    refresh()
    assert config.MAX_UPLOAD_MB == 7


def test_fixed_settings_can_not_be_read_from_config() -> None:
    with pytest.raises(AttributeError, match="HNSW_M isn't a setting that can change"):
        _ = config.HNSW_M
    with pytest.raises(AttributeError):
        _ = config.NO_SUCH_THING


def test_a_stored_value_out_of_bounds_is_ignored(caplog: pytest.LogCaptureFixture) -> None:
    SiteSetting.objects.bulk_create(
        SiteSetting(name=name, value=value) for name, value in (("FUSED_K", "99999"), ("HNSW_M", "5"), ("GONE", "1"))
    )
    with caplog.at_level(logging.WARNING):
        assert stored() == {}
    assert "FUSED_K is 99999" in caplog.text


async def test_pinned_settings_do_not_change() -> None:
    with pinned():
        assert config.ANSWER_TOP_K == 5
        pin({"ANSWER_TOP_K": 3})
        assert config.ANSWER_TOP_K == 3
        assert await in_database(lambda: config.ANSWER_TOP_K) == 3
        assert config.FUSED_K == 10
    assert config.ANSWER_TOP_K == 5
    with pytest.raises(RuntimeError):
        pin({})


def test_a_change_is_stored_whole_or_not_at_all(staff: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RRF_CONSTANT", "10")
    for wrong in ({"FUSED_K": "0"}, {"HNSW_M": "5"}, {"RRF_CONSTANT": "9"}, {"GONE": "1"}):
        with pytest.raises(ImproperlyConfigured, match=next(iter(wrong))):
            change(staff, {"ANSWER_TOP_K": "8"} | wrong)
    assert not SiteSetting.objects.exists() and not SettingChange.objects.exists()
    assert len(change(staff, {"ANSWER_TOP_K": "8", "FUSED_K": None})) == 1
    assert change(staff, {"ANSWER_TOP_K": "8"}) == []
