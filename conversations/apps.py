"""App configuration of `conversations`."""

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_out
from django.db.models.signals import m2m_changed, post_delete, post_migrate, post_save
from django.utils.translation import gettext_lazy as _


class ConversationsConfig(AppConfig):
    """Sessions, turns, the pipeline and its streams."""

    name = "conversations"
    verbose_name = _("Conversations")

    def ready(self) -> None:
        """Register the system checks, and connect the signals that create the default rows after each migration, audit
        changes, and end streams and answers when a user signs out or loses access."""
        from django.contrib.auth.models import User

        from conversations import checks, schedules  # noqa: F401
        from conversations.assistants.choice import keep_default
        from conversations.files import chat_files
        from conversations.models import Assistant, AssistantVersion, ChatSession, ModelProfile, PromptTemplate
        from conversations.prompts.versions import keep_defaults
        from conversations.turns import rights
        from knowledge.models import KnowledgeBase, Membership
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
        user_logged_out.connect(stream_auth.end_streams_at_logout, dispatch_uid="conversations.sign_outs")
        for changed in (post_save, post_delete):
            changed.connect(stream_auth.recheck_streams, sender=User, dispatch_uid="conversations.users")
            changed.connect(stream_auth.end_sign_ins, sender=User, dispatch_uid="conversations.deactivated")
        post_save.connect(rights.user_saved, sender=User, dispatch_uid="conversations.rights.users")
        post_save.connect(rights.base_saved, sender=KnowledgeBase, dispatch_uid="conversations.rights.bases")
        post_delete.connect(rights.share_deleted, sender=Membership, dispatch_uid="conversations.rights.shares")
        m2m_changed.connect(
            rights.groups_changed, sender=User.groups.through, dispatch_uid="conversations.rights.groups"
        )
        post_delete.connect(stream_auth.recheck_streams, sender=ApiToken, dispatch_uid="conversations.tokens")
