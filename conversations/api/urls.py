"""URL patterns of the chat's API, under `/api/`."""

from django.urls import path

from conversations.api import files, saved_prompts, sessions, sharing, streams
from conversations.api import memory as memory_api

urlpatterns = [
    path("chat/sessions", sessions.SessionList.as_view(), name="api-sessions"),
    path("chat/labels", sessions.LabelList.as_view(), name="api-labels"),
    path("chat/labels/<int:pk>", sessions.LabelDetail.as_view(), name="api-label"),
    path("chat/sessions/<int:pk>", sessions.SessionDetail.as_view(), name="api-session"),
    path("chat/sessions/<int:pk>/content", streams.SessionContent.as_view(), name="api-content"),
    path(
        "chat/sessions/<int:pk>/content/<int:message_id>/stream",
        streams.ContentStream.as_view(),
        name="api-content-stream",
    ),
    path("chat/sessions/<int:pk>/files", files.SessionFiles.as_view(), name="api-session-files"),
    path("chat/sessions/<int:pk>/files/<int:document_id>", files.SessionFile.as_view(), name="api-session-file"),
    path(
        "chat/sessions/<int:pk>/files/<int:document_id>/keep",
        files.KeepSessionFile.as_view(),
        name="api-keep-session-file",
    ),
    path("chat/sessions/<int:pk>/export.json", sharing.ExportJson.as_view(), name="api-export-json"),
    path("chat/sessions/<int:pk>/export.md", sharing.ExportMarkdown.as_view(), name="api-export-markdown"),
    path("chat/sessions/<int:session_id>/share-links", sharing.SessionLinks.as_view(), name="api-share-links"),
    path("chat/share-links/<uuid:uuid>", sharing.LinkDetail.as_view(), name="api-share-link"),
    path("knowledge-bases/<int:pk>/share-links", sharing.QuotingLinks.as_view(), name="api-quoting-links"),
    path(
        "knowledge-bases/<int:pk>/share-links/<uuid:uuid>",
        sharing.QuotingLinkDetail.as_view(),
        name="api-quoting-link",
    ),
    path("chat/messages/<int:pk>", sessions.MessageDetail.as_view(), name="api-message"),
    path("chat/messages/<int:pk>/citations", sessions.MessageCitations.as_view(), name="api-citations"),
    path("chat/messages/<int:pk>/trace", sessions.MessageTrace.as_view(), name="api-trace"),
    path("chat/messages/<int:pk>/stop", sessions.MessageStop.as_view(), name="api-stop"),
    path("chat/messages/<int:pk>/regenerate", sessions.MessageRegenerate.as_view(), name="api-regenerate"),
    path("chat/messages/<int:pk>/continue", sessions.MessageContinue.as_view(), name="api-continue"),
    path("chat/messages/<int:pk>/note", sharing.MessageNote.as_view(), name="api-note"),
    path("chat/messages/<int:pk>/feedback", sessions.MessageFeedback.as_view(), name="api-feedback"),
    path("chat/sessions/<int:pk>/summary", memory_api.SessionSummary.as_view(), name="api-summary"),
    path("chat/sessions/<int:pk>/summary/versions", memory_api.SummaryVersions.as_view(), name="api-summary-versions"),
    path("chat/sessions/<int:pk>/summary/restore", memory_api.SummaryRestore.as_view(), name="api-restore-summary"),
    path("instructions", memory_api.OwnInstructions.as_view(), name="api-instructions"),
    path("memory", memory_api.Memory.as_view(), name="api-memory"),
    path("memory/facts", memory_api.MemoryFacts.as_view(), name="api-memory-facts"),
    path("memory/facts/<int:pk>", memory_api.MemoryFact.as_view(), name="api-memory-fact"),
    path("prompts", saved_prompts.SavedPromptList.as_view(), name="api-saved-prompts"),
    path("prompts/<int:pk>", saved_prompts.SavedPromptDetail.as_view(), name="api-saved-prompt"),
    path("assistants", sessions.AssistantList.as_view(), name="api-assistants"),
    path("assistants/<int:pk>", sessions.AssistantDetail.as_view(), name="api-assistant"),
    path("models", sessions.ModelList.as_view(), name="api-models"),
    path("chat/conversation", streams.Conversation.as_view(), name="api-conversation"),
]
