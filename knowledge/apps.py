"""The app of what the site knows."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class KnowledgeConfig(AppConfig):
    """Knowledge bases, documents and how they become chunks."""

    name = "knowledge"
    verbose_name = _("Knowledge")
