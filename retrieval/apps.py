"""The app of how the site finds."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RetrievalConfig(AppConfig):
    """The index, both retrievers and their fusion."""

    name = "retrieval"
    verbose_name = _("Retrieval")

    def ready(self) -> None:
        """Listen to what `knowledge` announces, and register the system checks."""
        from retrieval import checks, receivers  # noqa: F401
