"""App configuration of `conversations`."""

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_out
from django.db.models.signals import post_delete, post_migrate, post_save
from django.utils.translation import gettext_lazy as _


class ConversationsConfig(AppConfig):
    """Sessions, turns, the pipeline and its streams."""

    name = "conversations"
    verbose_name = _("Conversations")

    def ready(self) -> None:
        """Register the system checks, keep default prompts and schedule in the database, and hear of signing out and of
        what becomes of users and tokens."""
        from django.contrib.auth.models import User

        from conversations import checks, schedules  # noqa: F401
        from conversations.assistants.choice import keep_default
        from conversations.files import chat_files
        from conversations.models import Assistant, AssistantVersion, ChatSession, ModelProfile, PromptTemplate
        from conversations.prompts.versions import keep_defaults
        from ragsite.accounts import stream_auth
        from ragsite.audit import watch
        from ragsite.models import ApiToken, AuditEntry

        action = AuditEntry.Action
        watch.model(PromptTemplate, action.PROMPT)
        watch.model(ModelProfile, action.MODEL)
        watch.model(Assistant, action.ASSISTANT)
        watch.model(AssistantVersion, action.ASSISTANT)

        post_migrate.connect(keep_defaults, sender=self, dispatch_uid="conversations.prompts.templates")
        post_migrate.connect(keep_default, sender=self, dispatch_uid="conversations.assistants")
        post_migrate.connect(schedules.register, sender=self, dispatch_uid="conversations.schedules")
        post_delete.connect(chat_files.session_deleted, sender=ChatSession, dispatch_uid="conversations.files")
        user_logged_out.connect(stream_auth.tell_signed_out, dispatch_uid="conversations.sign_outs")
        for changed in (post_save, post_delete):
            changed.connect(stream_auth.tell_changed, sender=User, dispatch_uid="conversations.users")
        post_save.connect(stream_auth.end_sign_ins, sender=User, dispatch_uid="conversations.deactivated")
        post_delete.connect(stream_auth.tell_changed, sender=ApiToken, dispatch_uid="conversations.tokens")
