"""`manage.py create_token` prints a valid key on the last line."""

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from ragsite.models import ApiToken

pytestmark = pytest.mark.django_db


def test_the_key_is_alone_on_the_last_line_and_works(owner: User) -> None:
    out, err = StringIO(), StringIO()
    call_command("create_token", "owner", "--name", "backup", stdout=out, stderr=err)
    key = out.getvalue().splitlines()[-1]
    assert key == out.getvalue().strip() and " " not in key and len(key) >= 40
    token = ApiToken.objects.get()
    assert (token.user, token.name) == (owner, "backup")
    assert Client(headers={"authorization": f"Token {key}"}).get("/api/chat/sessions").status_code == 200


def test_the_key_is_not_stored(owner: User) -> None:
    out = StringIO()
    call_command("create_token", "owner", stdout=out, stderr=StringIO())
    key = out.getvalue().strip()
    assert key not in str(ApiToken.objects.values().get())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["nobody"], "nobody"), (["retired"], "not active"), (["owner", "--name", ""], "1 to 100")],
)
def test_errors_are_one_line(owner: User, arguments: list[str], words: str) -> None:
    User.objects.create_user("retired", is_active=False)
    with pytest.raises(CommandError, match=words) as error:
        call_command("create_token", *arguments, stdout=StringIO(), stderr=StringIO())
    assert "\n" not in str(error.value)
    assert not ApiToken.objects.exists()
