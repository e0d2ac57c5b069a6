"""Password rules, in this site's words."""

from django.contrib.auth.password_validation import MinimumLengthValidator
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

# The rules of AUTH_PASSWORD_VALIDATORS in one sentence, instead of Django's list.
HELP = _("At least 8 characters; not only digits, not a common password, and not similar to your username.")


class MinimumLength(MinimumLengthValidator):
    """Django's validator with a translated message; Django's own isn't translated into Chinese."""

    def get_error_message(self) -> str:
        """Return the message for a password that is too short."""
        return ngettext(
            "This password has fewer than %(least)d character.",
            "This password has fewer than %(least)d characters.",
            self.min_length,
        ) % {"least": self.min_length}
