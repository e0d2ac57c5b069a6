"""An OpenID Connect provider (`allauth.idp.oidc`) in a separate process, for tests that sign in with one over HTTP.

`python -m tests.oidc_provider FOLDER CALLBACK PEOPLE` serves until it is killed. PEOPLE is a JSON list of objects with
`username`, `email`, `verified` and `groups`; each has the password `PASSWORD`.
"""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from socketserver import ThreadingMixIn
from types import TracebackType
from typing import Any, Self
from wsgiref.simple_server import WSGIServer, make_server

ROOT = Path(__file__).resolve().parent.parent
CLIENT, SECRET, PASSWORD = "ragsite", "the secret of the client", "at the provider 9"
urlpatterns: list[Any] = []


class OIDCProvider:
    """A context manager that runs the provider's process."""

    def __init__(self, folder: Path, callback: str, people: Iterable[dict[str, Any]]) -> None:
        command = [sys.executable, "-m", "tests.oidc_provider", str(folder), callback, json.dumps(list(people))]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self.url = ""

    def __enter__(self) -> Self:
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        assert self.url.startswith("http://"), "the provider didn't start"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


def _configure(folder: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa
    from django.conf import settings

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    settings.configure(
        SECRET_KEY="of the provider",
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF="tests.oidc_provider",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "provider.sqlite3"}},
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.messages",
            "django.contrib.sessions",
            "allauth",
            "allauth.account",
            "allauth.idp.oidc",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            "allauth.account.middleware.AccountMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {
                    "context_processors": [
                        "django.template.context_processors.request",
                        "django.contrib.auth.context_processors.auth",
                        "django.contrib.messages.context_processors.messages",
                    ]
                },
            }
        ],
        AUTHENTICATION_BACKENDS=["django.contrib.auth.backends.ModelBackend"],
        # Cookies don't distinguish ports, so the names must differ from the site's.
        SESSION_COOKIE_NAME="provider_session",
        CSRF_COOKIE_NAME="provider_csrf",
        LOGIN_URL="account_login",
        IDP_OIDC_PRIVATE_KEY=pem,
        IDP_OIDC_ADAPTER="tests.oidc_provider_adapter.Adapter",
        USE_TZ=True,
    )


def _serve(folder: Path, callback: str, people: list[dict[str, Any]]) -> None:
    _configure(folder)
    import django

    django.setup()
    from allauth.account.models import EmailAddress
    from allauth.idp.oidc.models import Client
    from django.contrib.auth.hashers import make_password
    from django.contrib.auth.models import Group, User
    from django.core.management import call_command
    from django.core.wsgi import get_wsgi_application
    from django.urls import include, path

    import tests.oidc_provider

    call_command("migrate", verbosity=0)
    for person in people:
        user = User.objects.create_user(person["username"], person["email"], PASSWORD)
        EmailAddress.objects.create(user=user, email=user.email, verified=person.get("verified", True), primary=True)
        for name in person.get("groups", []):
            user.groups.add(Group.objects.get_or_create(name=name)[0])
    Client.objects.create(
        id=CLIENT, name="Ragsite", secret=make_password(SECRET), redirect_uris=callback, scopes="openid\nprofile\nemail"
    )
    tests.oidc_provider.urlpatterns += [
        path("accounts/", include("allauth.account.urls")),
        path("", include("allauth.idp.urls")),
    ]
    with make_server("127.0.0.1", 0, get_wsgi_application(), server_class=_Server) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]))
