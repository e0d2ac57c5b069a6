"""Create an API token for a user."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from ragsite.accounts.tokens import create_token
from ragsite.models import ApiToken


class Command(BaseCommand):
    """`manage.py create_token USER [--name NAME]`: the key is the only line of standard output."""

    help = "Create an API token for a user; its key is the last line of the output and can't be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the user's name and a name for the token."""
        parser.add_argument("user", help="username of the token's owner")
        parser.add_argument("--name", default="command line", help="purpose of the token (default: %(default)s)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the key; raises `CommandError` if the user is unknown or inactive."""
        username, name = options["user"], options["name"].strip()
        longest = ApiToken._meta.get_field("name").max_length or 0
        if not name or len(name) > longest:
            raise CommandError(_("The token's name must have 1 to %(count)d characters.") % {"count": longest})
        users = get_user_model()
        user = users.objects.filter(**{users.USERNAME_FIELD: username}).first()
        if user is None:
            raise CommandError(_("There is no user “%(name)s”.") % {"name": username})
        if not user.is_active:
            raise CommandError(_("The user “%(name)s” is not active.") % {"name": username})
        message = _("API token for %(name)s; keep it safe, because it can't be shown again:")
        self.stderr.write(message % {"name": username})
        self.stdout.write(create_token(user, name))
