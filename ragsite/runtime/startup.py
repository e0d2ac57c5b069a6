"""Common code for starting `up`, `web` and `worker`: options, the socket, and checks."""

import argparse
import errno
import socket
from ipaddress import ip_address

from django.conf import settings
from django.core import checks
from django.db import OperationalError, connection, connections


class CannotStart(Exception):
    """The site can't be started; the message is one line for the user."""


def add_address(parser: argparse.ArgumentParser) -> None:
    """Add the options for the address to listen on."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=port, default=8000, help="port to listen on, 0 for any free one")


def add_data_folder(parser: argparse.ArgumentParser) -> None:
    """Add the option for the data folder."""
    parser.add_argument("--data-dir", metavar="DIR", help="folder for all data; handled by manage.py itself")


def port(value: str) -> int:
    """Parse a port given on the command line; raises `ArgumentTypeError`."""
    if not (value.isascii() and value.isdigit() and int(value) <= 65_535):
        raise argparse.ArgumentTypeError(f"{value!r} isn't a port; enter a number from 0 to 65535.")
    return int(value)


def listen(host: str, port: int) -> socket.socket:
    """Open the socket on which the site listens; raises `CannotStart`."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=512)
    except socket.gaierror as error:
        raise CannotStart(f"The host {host} can't be resolved: {error.strerror}.") from error
    except OSError as error:
        in_use = error.errno == errno.EADDRINUSE
        reason = "is in use; choose another with --port" if in_use else f"can't be used: {error.strerror}"
        raise CannotStart(f"Port {port} on {host} {reason}.") from error


def address(host: str, listener: socket.socket) -> str:
    """Return the URL of the site as seen from this machine."""
    if host in ("0.0.0.0", "::"):
        host = "localhost"
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}/"


def migrations_wait() -> bool:
    """Return whether there are unapplied migrations."""
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def check_settings() -> None:
    """Run the system checks that don't need a database; raises `CannotStart` with the errors."""
    _raise_for(checks.run_checks())


def notices(listener: socket.socket | None = None) -> list[str]:
    """Return warnings about environment variables, and about an address that other machines may reach."""
    from ragsite.runtime.checks import variables_are_known

    warnings = _warnings(variables_are_known(None))
    is_public = listener is not None and not ip_address(listener.getsockname()[0]).is_loopback
    if is_public and "*" in settings.ALLOWED_HOSTS and not settings.PUBLIC_URL:
        warnings.append(
            "Warning: The site can be reached from other machines, and builds links from the host name of each "
            "request, which can be forged. Set RAGSITE_PUBLIC_URL, or list the site's hosts in RAGSITE_ALLOWED_HOSTS."
        )
    return warnings


def check_database() -> list[str]:
    """Run the system checks of the database; return their warnings, and raise `CannotStart` for errors."""
    found = checks.run_checks(tags=[checks.Tags.database], databases=["default"])
    _raise_for(found)
    return _warnings(found)


def expect_database() -> list[str]:
    """Check the database, for a process that doesn't migrate it itself; return warnings.

    An unavailable database is only a warning, since the site waits for it. Raises `CannotStart` for errors,
    unapplied migrations and an unfinished restore.
    """
    from ragsite.backup import switch  # imports models

    if switch.is_pending():
        raise CannotStart("A restore is running or was interrupted: wait until it ends, or run it again.")
    try:
        warnings = check_database()
        if migrations_wait():
            raise CannotStart("The database has unapplied migrations: run `manage.py migrate` first.")
        return warnings
    except OperationalError:
        return ["Warning: The database can't be reached; check /readyz to see when it is back."]
    finally:
        connections.close_all()


def _warnings(found: list[checks.CheckMessage]) -> list[str]:
    return [f"Warning: {message.msg} {message.hint}" for message in found if not message.is_silenced()]


def _raise_for(found: list[checks.CheckMessage]) -> None:
    errors = [message for message in found if message.is_serious() and not message.is_silenced()]
    if errors:
        raise CannotStart("\n".join(f"{message.msg} {message.hint or ''}".strip() for message in errors))
