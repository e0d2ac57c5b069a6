"""What `up`, `web` and `worker` have in common at their start: options, the socket, and checks."""

import argparse
import errno
import socket
from ipaddress import ip_address

from django.conf import settings
from django.core import checks
from django.db import OperationalError, connection, connections


class CannotStart(Exception):
    """The site can't be started; the message is one line for a person."""


def add_address(parser: argparse.ArgumentParser) -> None:
    """Add the options for the address to listen on."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=port, default=8000, help="port to listen on, 0 for any free one")


def add_data_folder(parser: argparse.ArgumentParser) -> None:
    """Add the option for the data folder."""
    parser.add_argument("--data-dir", metavar="DIR", help="where all data are kept; read by manage.py itself")


def port(value: str) -> int:
    """Parse a port given on the command line; raises `ArgumentTypeError`."""
    if not (value.isascii() and value.isdigit() and int(value) <= 65_535):
        raise argparse.ArgumentTypeError(f"{value!r} is no port; a port is a whole number from 0 to 65535.")
    return int(value)


def listen(host: str, port: int) -> socket.socket:
    """Open the socket on which the site listens; raises `CannotStart`."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=512)
    except socket.gaierror as error:
        raise CannotStart(f"The host {host} is not known: {error.strerror}.") from error
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        reason = "is in use; choose another with --port" if taken else f"can't be used: {error.strerror}"
        raise CannotStart(f"Port {port} on {host} {reason}.") from error


def address(host: str, listener: socket.socket) -> str:
    """Return the URL of the site as seen from this machine."""
    if host in ("0.0.0.0", "::"):
        host = "localhost"
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}/"


def migrations_wait() -> bool:
    """Whether there are unapplied migrations."""
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def check_settings() -> None:
    """Run the system checks that need no database; raises `CannotStart` with the errors."""
    _raise_for(checks.run_checks())


def notices(listener: socket.socket | None = None) -> list[str]:
    """Return warnings about the environment, and about an address that other machines may reach."""
    from ragsite.runtime.checks import variables_are_known

    told = _told(variables_are_known(None))
    beyond = listener is not None and not ip_address(listener.getsockname()[0]).is_loopback
    if beyond and "*" in settings.ALLOWED_HOSTS and not settings.PUBLIC_URL:
        told.append(
            "Warning: The site listens beyond this machine, and makes share links of whatever address a request "
            "claims. Set RAGSITE_PUBLIC_URL to its own, or name its hosts in RAGSITE_ALLOWED_HOSTS."
        )
    return told


def check_database() -> list[str]:
    """Run the system checks of the database; return their warnings, and raise `CannotStart` for errors."""
    found = checks.run_checks(tags=[checks.Tags.database], databases=["default"])
    _raise_for(found)
    return _told(found)


def expect_database() -> list[str]:
    """Check the database, for a process that doesn't migrate it itself; return warnings.

    A database that can't be reached is only warned of, since the site waits for it. Raises `CannotStart` for errors and
    unapplied migrations.
    """
    try:
        warnings = check_database()
        if migrations_wait():
            raise CannotStart("The database is not prepared for this version: run `manage.py migrate` first.")
        return warnings
    except OperationalError:
        return ["Warning: The database can't be reached; /readyz tells when it is back."]
    finally:
        connections.close_all()


def _told(found: list[checks.CheckMessage]) -> list[str]:
    return [f"Warning: {message.msg} {message.hint}" for message in found if not message.is_silenced()]


def _raise_for(found: list[checks.CheckMessage]) -> None:
    grave = [message for message in found if message.is_serious() and not message.is_silenced()]
    if grave:
        raise CannotStart("\n".join(f"{message.msg} {message.hint or ''}".strip() for message in grave))
