"""What a password has to be, in this site's words."""

from django.contrib.auth.password_validation import MinimumLengthValidator
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

# The rules of AUTH_PASSWORD_VALIDATORS in one sentence, instead of Django's list.
HELP = _("At least 8 characters; not digits alone, not a common password, and nothing like your name.")


class MinimumLength(MinimumLengthValidator):
    """Django's rule; its message lacks translations."""

    def get_error_message(self) -> str:
        """Say how long a password has to be."""
        return ngettext(
            "This password has fewer than %(least)d character.",
            "This password has fewer than %(least)d characters.",
            self.min_length,
        ) % {"least": self.min_length}
