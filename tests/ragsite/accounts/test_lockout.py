"""Wrong passwords and tokens lead to growing pauses, which don't lock out users elsewhere."""

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client, RequestFactory
from django.urls import reverse

from ragsite.accounts import lockout
from ragsite.accounts.lockout import (
    BY_ACCOUNT,
    BY_ACCOUNT_AND_ADDRESS,
    BY_ADDRESS,
    Guess,
    Limit,
    TooManyGuesses,
    address_of,
)
from ragsite.accounts.tokens import create_token

pytestmark = pytest.mark.django_db


class Clock:
    """A time that only a test moves on, for the limiter and its cache alike."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(lockout.time, "time", clock.time)  # the module that the cache asks too
    return clock


def sign_in(username: str = "staff", password: str = "wrong", address: str = "10.0.0.1") -> Any:
    return Client(REMOTE_ADDR=address).post(reverse("login"), {"username": username, "password": password})


@pytest.mark.parametrize("username", ["staff", "nobody"])
def test_few_of_sixty_wrong_passwords_are_checked(staff: User, clock: Clock, username: str) -> None:
    statuses = [sign_in(username).status_code for _ in range(60)]
    assert statuses == [200] * 6 + [429] * 54
    refused = sign_in(username)
    assert refused["Retry-After"] == "5"
    assert "Try again in 5 seconds." in refused.content.decode()


def test_the_right_password_waits_for_the_pause_and_clears_the_counts(staff: User, clock: Clock) -> None:
    for _ in range(6):
        sign_in()
    assert sign_in(password="password").status_code == 429
    clock.now += 5
    assert sign_in(password="password").status_code == 302
    assert [sign_in().status_code for _ in range(7)] == [200] * 6 + [429]


def test_pauses_grow_up_to_the_longest(staff: User, clock: Clock) -> None:
    pauses = []
    for _ in range(16):
        while sign_in().status_code != 429:
            pass
        pauses.append(int(sign_in()["Retry-After"]))
        clock.now += pauses[-1]
    assert pauses[:9] == [5, 10, 20, 40, 80, 160, 320, 640, 900] and max(pauses) == 900
    assert sign_in().status_code == 200 and "again in 15 minutes." in sign_in().content.decode()


def test_guessing_elsewhere_locks_nobody_out(staff: User, clock: Clock) -> None:
    for _ in range(60):
        sign_in(address="10.0.0.1")
    assert sign_in(password="password", address="10.0.0.2").status_code == 302


def test_guessing_from_everywhere_locks_nobody_out(staff: User, clock: Clock) -> None:
    assert sign_in(password="password", address="192.168.0.1").status_code == 302
    for number in range(BY_ACCOUNT.free + 10):
        sign_in(address=f"10.0.{number}.1")
    assert sign_in(address="172.16.0.1").status_code == 429, "an address that nobody knows"
    assert sign_in(password="password", address="192.168.0.1").status_code == 302, "one's own"
    assert BY_ACCOUNT.longest <= 10


def test_one_address_can_not_try_many_accounts(staff: User, clock: Clock) -> None:
    statuses = [sign_in(username=f"user{number}").status_code for number in range(60)]
    assert statuses.count(200) == BY_ADDRESS.free + 1
    assert sign_in(address="10.0.0.2").status_code == 200


def test_signing_in_to_one_s_own_account_allows_no_more_guesses_at_others(
    staff: User, owner: User, clock: Clock
) -> None:
    made = 0
    for number in range(60):
        made += sign_in(username=f"user{number}").status_code == 200
        sign_in(username="owner", password="password")
    assert made <= BY_ADDRESS.free + 1


def test_networks_of_ipv6_count_as_one(staff: User, clock: Clock) -> None:
    statuses = [sign_in(address=f"2001:db8::{number:x}").status_code for number in range(1, 20)]
    assert statuses.count(200) == 6
    assert sign_in(address="2001:db8:0:1::1").status_code == 200


def test_addresses_of_ipv4_in_the_form_of_ipv6_count_by_themselves(staff: User, clock: Clock) -> None:
    assert [sign_in(address="::ffff:10.0.0.1").status_code for _ in range(10)].count(200) == 6
    assert sign_in(address="10.0.0.1").status_code == 429
    assert sign_in(address="::ffff:10.0.0.2").status_code == 200


def test_names_count_whatever_their_case(staff: User, clock: Clock) -> None:
    assert [sign_in(username=name).status_code for name in ("staff", "Staff", "STAFF") * 4].count(200) == 6


def test_old_passwords_are_limited_with_those_of_signing_in(as_owner: Client, owner: User, clock: Clock) -> None:
    form = {"old_password": "wrong", "new_password1": "b1 long and new", "new_password2": "b1 long and new"}
    answers = [as_owner.post(reverse("change-password"), form) for _ in range(25)]
    assert [answer.status_code for answer in answers] == [422] * 6 + [429] * 19
    assert answers[-1]["Retry-After"] == "5" and "Try again in 5 seconds." in answers[-1].content.decode()
    assert sign_in(username="owner", address="127.0.0.1").status_code == 429
    clock.now += 5
    assert as_owner.post(reverse("change-password"), form | {"old_password": "password"}).status_code == 302


def test_admins_change_their_password_on_the_account_page(as_staff: Client) -> None:
    for page in ("admin:password_change", "admin:password_change_done"):
        assert as_staff.get(reverse(page))["Location"] == reverse("account")


def test_wrong_tokens_are_answered_429_and_right_ones_always_pass(owner: User, clock: Clock) -> None:
    def ask(key: str) -> Any:
        return Client(REMOTE_ADDR="10.0.0.1").get(reverse("api-sessions"), headers={"Authorization": f"Token {key}"})

    answers = [ask(f"wrong{number}") for number in range(40)]
    assert [answer.status_code for answer in answers] == [401] * 21 + [429] * 19
    assert answers[-1]["Retry-After"] == "5" and set(answers[-1].json()) == {"detail", "code"}
    assert ask(create_token(owner, "t")).status_code == 200
    clock.now += 5
    assert ask("wrong").status_code == 401


def test_simultaneous_guesses_are_limited_too(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    monkeypatch.setattr(Guess, "_who", lambda guess: "")  # threads have no part in the test's transaction

    def try_once(_number: int) -> bool:
        try:
            Guess("password", "staff", "10.0.0.1").begin()
        except TooManyGuesses:
            return False
        return True

    with ThreadPoolExecutor(16) as threads:
        assert sum(threads.map(try_once, range(64))) == BY_ACCOUNT_AND_ADDRESS.free + 1


def test_a_pause_is_logged_without_what_was_typed(staff: User, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "ragsite.accounts.lockout"):
        for _ in range(10):
            sign_in()
            sign_in(username="my secret password", address="10.0.0.3")
    assert f"user {staff.pk} from 10.0.0.1" in caplog.text and "no user from 10.0.0.3" in caplog.text
    assert "secret" not in caplog.text
    assert len([record for record in caplog.records if record.name == "ragsite.accounts.lockout"]) == 2


def test_behind_a_proxy_the_address_is_what_the_proxy_saw(settings: Any) -> None:
    request = RequestFactory().get("/", headers={"X-Forwarded-For": "1.2.3.4, 10.0.0.9"})
    assert address_of(request) == "127.0.0.1", "anyone may send this header"
    settings.BEHIND_TLS = True
    assert address_of(request) == "10.0.0.9", "what comes before it, the client may have sent"


def test_no_pause_outgrows_its_limit() -> None:
    assert [Limit(2, 5, 60, 1).pause_after(tries) for tries in (2, 3, 4, 5, 6, 7, 1000)] == [0, 5, 10, 20, 40, 60, 60]


class TestSharedAddress:
    """Sixty people behind one address can sign in, whatever somebody else tries from there."""

    def users(self, number: int) -> list[User]:
        password = make_password("password")
        return User.objects.bulk_create(User(username=f"person{n}", password=password) for n in range(number))

    def guess(self, clock: Clock, number: int = 40) -> None:
        for guessed in range(number):
            sign_in(username=f"made up {guessed}")
            clock.now += 1

    def test_those_who_have_signed_in_before_do_not_wait(self, clock: Clock) -> None:
        people = self.users(60)
        for person in people:
            Guess("password", person.username, "10.0.0.1").succeeded()
        self.guess(clock)
        assert sign_in(username="somebody new").status_code == 429
        assert [sign_in(person.username, "password").status_code for person in people] == [302] * 60

    def test_right_passwords_open_no_pause(self, clock: Clock) -> None:
        people = self.users(60)
        assert [sign_in(person.username, "password").status_code for person in people] == [302] * 60

    def test_new_people_wait_until_the_guesses_are_forgotten(self, clock: Clock) -> None:
        people = self.users(8)
        self.guess(clock)
        waited = int(sign_in(people[0].username, "password")["Retry-After"])
        assert 0 < waited <= BY_ADDRESS.longest
        clock.now += waited
        assert [sign_in(person.username, "password").status_code for person in people] == [302] * 8
        assert sign_in(username="made up").status_code == 200
        assert sign_in(username="made up").status_code == 429
        clock.now += 2 * BY_ADDRESS.window
        assert [sign_in(username=f"typo {n}").status_code for n in range(BY_ADDRESS.free)] == [200] * BY_ADDRESS.free

    def test_counts_decay(self, clock: Clock) -> None:
        clock.now -= clock.now % BY_ADDRESS.window
        for guessed in range(BY_ADDRESS.free):
            sign_in(username=f"made up {guessed}")
        clock.now += BY_ADDRESS.window * 1.5
        half = BY_ADDRESS.free // 2
        assert [sign_in(username=f"other {n}").status_code for n in range(half + 2)] == [200] * (half + 1) + [429]


def test_many_names_do_not_displace_a_count(staff: User, clock: Clock) -> None:
    for _ in range(6):
        sign_in()
    for number in range(2000):
        cache.set(f"other.{number}", 1)
    assert sign_in().status_code == 429
