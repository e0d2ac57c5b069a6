"""Readers of environment variables reject invalid values with the variable's name."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from ragsite import env

NAME = "RAGSITE_TEST_VARIABLE"


@pytest.fixture(autouse=True)
def own_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(env, "options", {})


@pytest.mark.parametrize(
    ("value", "expected"), [("1", True), ("TRUE", True), ("on", True), ("no", False), ("0", False), (" ", True)]
)
def test_boolean(monkeypatch: pytest.MonkeyPatch, value: str, expected: bool) -> None:
    monkeypatch.setenv(NAME, value)
    assert env.boolean(NAME, True) is expected


def test_boolean_refuses_other_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "maybe")
    with pytest.raises(ImproperlyConfigured, match=f"{NAME} is 'maybe'; it must be true or false"):
        env.boolean(NAME, True)


def test_integer_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.integer(NAME, 7) == 7
    monkeypatch.setenv(NAME, "12")
    assert env.integer(NAME, 7, (1, 12)) == 12


@pytest.mark.parametrize("value", ["0", "13", "1.5", "many"])
def test_integer_refuses(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)
    with pytest.raises(ImproperlyConfigured, match="a whole number of at least 1 and at most 12"):
        env.integer(NAME, 7, (1, 12))


@pytest.mark.parametrize("value", ["nan", "-0.1", "2.1", "warm"])
def test_decimal_refuses(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)
    with pytest.raises(ImproperlyConfigured, match=NAME):
        env.decimal(NAME, 0.3, (0.0, 2.0))


def test_optional_decimal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.optional_decimal(NAME) is None
    monkeypatch.setenv(NAME, "-0.5")
    assert env.optional_decimal(NAME) == -0.5


def test_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.choice(NAME, "en", ("en", "zh-hans")) == "en"
    monkeypatch.setenv(NAME, "fr")
    with pytest.raises(ImproperlyConfigured, match="one of: en, zh-hans"):
        env.choice(NAME, "en", ("en", "zh-hans"))


def test_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.words(NAME, ("*",)) == ["*"]
    monkeypatch.setenv(NAME, " a.example, ,b.example ")
    assert env.words(NAME) == ["a.example", "b.example"]


def test_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.weights(NAME, {"a": 0.3}, ("a", "b")) == {"a": 0.3}
    monkeypatch.setenv(NAME, " b:0.5, a : 2,")
    assert env.weights(NAME, {"a": 0.3}, ("a", "b")) == {"b": 0.5, "a": 2.0}


@pytest.mark.parametrize("value", ["a", "a:", "a:much", "c:1", "a:1,a:2", "a:-1", "a:nan", "a:inf", ":1"])
def test_weights_refuse(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)
    with pytest.raises(ImproperlyConfigured, match=f"{NAME} contains .* Valid names are: a, b"):
        env.weights(NAME, {}, ("a", "b"))


def test_path_is_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(NAME, "data")
    assert env.path(NAME, Path("/elsewhere")) == tmp_path.resolve() / "data"


def test_url(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.url(NAME, ("http", "https")) == ""
    monkeypatch.setenv(NAME, "https://models.example/v1/")
    assert env.url(NAME, ("http", "https")) == "https://models.example/v1"


@pytest.mark.parametrize("value", ["models.example/v1", "ftp://models.example", "https://"])
def test_url_refuses(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)
    with pytest.raises(ImproperlyConfigured, match=NAME):
        env.url(NAME, ("http", "https"))


def test_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    known = ("en", "zh")
    assert env.languages(NAME, known) is None
    for value, expected in (("zh, EN", ("zh", "en")), ("all", ())):
        monkeypatch.setenv(NAME, value)
        assert env.languages(NAME, known) == expected
    monkeypatch.setenv(NAME, "en,fr")
    with pytest.raises(ImproperlyConfigured, match=f"{NAME} contains 'fr'; it must be all, or any of: en, zh"):
        env.languages(NAME, known)


@pytest.mark.parametrize(
    "value", ["mysql://me:s3cret@db/name", "postgres://me:s3cret#1@db/name", "password=s3cret host=db"]
)
def test_a_url_that_is_refused_is_not_shown(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)
    with pytest.raises(ImproperlyConfigured, match=NAME) as refused:
        env.url(NAME, ("postgres",))
    assert "s3cret" not in str(refused.value)


def test_time_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.time_zone(NAME, "UTC") == "UTC"
    monkeypatch.setenv(NAME, "Asia/Shanghai")
    assert env.time_zone(NAME, "UTC") == "Asia/Shanghai"
    for value in ("Mars/Olympus", "../etc/passwd", "Asia"):
        monkeypatch.setenv(NAME, value)
        with pytest.raises(ImproperlyConfigured, match=f"{NAME} is .*; it must be a time zone such as Asia/Shanghai"):
            env.time_zone(NAME, "UTC")
