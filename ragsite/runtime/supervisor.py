"""Run the whole site with one command: database, background worker and web server, started and stopped together.

`manage.py up` calls `Supervisor.run()`. The web server's process is forked first, so that it loads while the database
starts. It listens on a socket that the supervisor keeps open, so that requests wait instead of failing while the web
server is restarted.
"""

import gc
import http.client
import os
import secrets
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from types import FrameType

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import OutputWrapper
from django.db import DatabaseError, connection, connections, transaction

from ragsite.backup import switch
from ragsite.runtime import embedded, new_database
from ragsite.runtime.children import Child, Guard
from ragsite.runtime.guard import STOP_SIGNALS, end_groups, kill_group
from ragsite.runtime.startup import CannotStart, address, check_database, listen, migrations_wait, notices

READY_TIMEOUT = 120.0  # seconds
DEMO_USER = "demo"
_PASSWORD_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # without characters that look alike


@dataclass(frozen=True)
class Options:
    """The address to listen on, and whether the first start creates the demo account."""

    host: str = "127.0.0.1"
    port: int = 8000
    demo: bool = True


class Supervisor:
    """Runs the site until it is asked to stop."""

    def __init__(self, options: Options, out: OutputWrapper) -> None:
        """Take the options, and the output for messages."""
        self.options = options
        self._out = out
        self._children: list[Child] = []
        self._asked_to_stop = False

    def run(self) -> None:
        """Start all processes, restart those that die, and stop all of them on SIGINT, SIGTERM or SIGHUP.

        Raises `CannotStart` with a one-line reason.
        """
        with self._stop_signals(), self._guard() as guard:
            with listen(self.options.host, self.options.port) as listener, suppress(KeyboardInterrupt):
                gc.freeze()  # existing objects stay shared with the children, since collections don't touch them
                go = get_context("fork").Event()
                web = Child("web server", lambda: call_command("web", listener=listener, wait_for_database=go.wait))
                worker = Child("background worker", lambda: _work(listener))
                self._children.append(web)
                web.start(guard)
                notes = self._prepare_database()
                connections.close_all()
                go.set()
                port = listener.getsockname()[1]
                deadline = time.monotonic() + READY_TIMEOUT
                while not _answers(self.options.host, port):
                    if not web.alive:
                        raise CannotStart(f"The web server {web.ending()} while starting; its messages are above.")
                    if time.monotonic() > deadline:
                        raise CannotStart(f"The web server did not respond within {READY_TIMEOUT:.0f} seconds.")
                    time.sleep(0.03)
                self._children.append(worker)
                worker.start(guard)
                self._say(
                    f"Ragsite is ready at {address(self.options.host, listener)}",
                    *notices(listener),
                    *notes,
                    "Press Ctrl-C to stop.",
                )
                embedded.settle()
                while not self._asked_to_stop:
                    guard.look_after_itself()
                    for child in self._children:
                        self._look_after(child, guard)
                    time.sleep(0.2)
            self._say("Stopping …")

    # --- Starting ---------------------------------------------------------------------------------

    def _prepare_database(self) -> list[str]:
        """Migrate, and on the first start create the demo account; return lines to show once ready."""
        try:
            connection.ensure_connection()
            if switch.is_pending():
                switch.recover()  # may have put another key in place than the one this process has read
                raise CannotStart("A restore had been interrupted; what it left was cleaned up. Start the site again.")
            check_database()
            if migrations_wait():
                self._say("Preparing the database …")
                if new_database.is_new():
                    new_database.create()
                else:
                    call_command("migrate", verbosity=0, interactive=False)
            return [*_welcome(self.options.demo), *check_database()]
        except ImproperlyConfigured as error:
            raise CannotStart(str(error)) from error
        except DatabaseError as error:
            where = "embedded database" if settings.EMBEDDED_DATABASE else "database at DATABASE_URL"
            reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise CannotStart(f"The {where} can't be used: {reason}") from error

    # --- Watching ---------------------------------------------------------------------------------

    def _look_after(self, child: Child, guard: Guard) -> None:
        now = time.monotonic()
        if child.alive:
            return
        if not child.due:
            kill_group(child.pid)
            guard.unwatch(child.pid)
            delay = child.pause(now)
            child.due = now + delay
            self._say(f"The {child.name} {child.ending()}; restarting it in {delay:.0f} s.")
        if now >= child.due:
            child.due = 0.0
            child.start(guard)

    # --- Signals and the data folder --------------------------------------------------------------

    @contextmanager
    def _stop_signals(self) -> Iterator[None]:
        """Turn the first stop signal into `KeyboardInterrupt`, and ignore later ones."""

        def interrupt(number: int, frame: FrameType | None) -> None:
            if not self._asked_to_stop:
                self._asked_to_stop = True
                raise KeyboardInterrupt

        # Under nohup, SIGHUP stays ignored.
        numbers = [n for n in STOP_SIGNALS if n != signal.SIGHUP or signal.getsignal(n) != signal.SIG_IGN]
        before = {number: signal.signal(number, interrupt) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def _guard(self) -> Iterator[Guard]:
        """Lock the data folder; on exit, stop all child processes and the embedded database."""
        try:
            embedded.hold_data_folder()
        except embedded.DataFolderInUse as error:
            raise CannotStart(str(error)) from error
        except OSError as error:
            raise CannotStart(f"The data folder {settings.DATA_DIR} can't be written: {error.strerror}.") from error
        guard = Guard()
        try:
            yield guard
        finally:
            for number in STOP_SIGNALS:
                signal.signal(number, signal.SIG_IGN)
            connections.close_all()
            end_groups([child.pid for child in self._children], reap=active_children)
            embedded.stop_own()
            guard.dismiss()

    def _say(self, *lines: str) -> None:
        self._out.write("\n".join(lines))
        self._out.flush()


def _work(listener: socket.socket) -> None:
    """Run the background worker, closing the socket, which it doesn't need."""
    listener.close()
    call_command("worker", database_is_ready=True)


# --- Small helpers --------------------------------------------------------------------------------------


def _answers(host: str, port: int) -> bool:
    """Return whether the site responds at `/healthz`."""
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    client = http.client.HTTPConnection(here, port, timeout=2)
    try:
        first = str(settings.ALLOWED_HOSTS[0]).lstrip(".") if settings.ALLOWED_HOSTS else here
        client.request("GET", "/healthz", headers={"Host": here if first == "*" else first})
        return client.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        client.close()


# --- The first start ------------------------------------------------------------------------------------


def _welcome(demo: bool) -> list[str]:
    """Create the demo account and the sample knowledge base if there are no users; return lines to show."""
    from django.contrib.auth.models import User

    stored = settings.DATA_DIR / "demo-password"
    if User.objects.exists():
        has_demo = stored.exists() and User.objects.filter(username=DEMO_USER, is_active=True).exists()
        return [f"Sign in as {DEMO_USER}; the initial password is in {stored}."] if has_demo else []
    if not demo:
        return ["Nobody can sign in yet: create an account with `manage.py createsuperuser`."]
    from ragsite.runtime import samples

    password = settings.DEMO_PASSWORD or "".join(secrets.choice(_PASSWORD_LETTERS) for _ in range(14))
    # Readable only by the site's user.
    descriptor = os.open(stored, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(descriptor, 0o600)
        file.write(f"{password}\n")
    with transaction.atomic():
        user = User.objects.create_superuser(DEMO_USER, password=password)
        samples.load(user)
    shown = "the password from RAGSITE_DEMO_PASSWORD" if settings.DEMO_PASSWORD else f"password {password}"
    return [f"Sign in as {DEMO_USER} with {shown} (stored in {stored})."]
