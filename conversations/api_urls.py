"""The chat's API addresses, under `/api/`."""

from django.urls import path

from conversations import api, sharing_api, sse
from conversations.memory import api as memory_api

urlpatterns = [
    path("chat/sessions", api.SessionList.as_view(), name="api-sessions"),
    path("chat/sessions/<int:pk>", api.SessionDetail.as_view(), name="api-session"),
    path("chat/sessions/<int:pk>/content", sse.SessionContent.as_view(), name="api-content"),
    path(
        "chat/sessions/<int:pk>/content/<int:message_id>/stream", sse.ContentStream.as_view(), name="api-content-stream"
    ),
    path("chat/sessions/<int:pk>/export.json", sharing_api.ExportJson.as_view(), name="api-export-json"),
    path("chat/sessions/<int:pk>/export.md", sharing_api.ExportMarkdown.as_view(), name="api-export-markdown"),
    path("chat/sessions/<int:session_id>/share-links", sharing_api.SessionLinks.as_view(), name="api-share-links"),
    path("chat/share-links/<uuid:uuid>", sharing_api.LinkDetail.as_view(), name="api-share-link"),
    path("knowledge-bases/<int:pk>/share-links", sharing_api.QuotingLinks.as_view(), name="api-quoting-links"),
    path(
        "knowledge-bases/<int:pk>/share-links/<uuid:uuid>",
        sharing_api.QuotingLinkDetail.as_view(),
        name="api-quoting-link",
    ),
    path("chat/messages/<int:pk>", api.MessageDetail.as_view(), name="api-message"),
    path("chat/messages/<int:pk>/citations", api.MessageCitations.as_view(), name="api-citations"),
    path("chat/messages/<int:pk>/trace", api.MessageTrace.as_view(), name="api-trace"),
    path("chat/messages/<int:pk>/stop", api.MessageStop.as_view(), name="api-stop"),
    path("chat/messages/<int:pk>/regenerate", api.MessageRegenerate.as_view(), name="api-regenerate"),
    path("chat/messages/<int:pk>/continue", api.MessageContinue.as_view(), name="api-continue"),
    path("chat/messages/<int:pk>/feedback", api.MessageFeedback.as_view(), name="api-feedback"),
    path("chat/sessions/<int:pk>/summary", memory_api.SessionSummary.as_view(), name="api-summary"),
    path("memory", memory_api.Memory.as_view(), name="api-memory"),
    path("memory/facts", memory_api.MemoryFacts.as_view(), name="api-memory-facts"),
    path("memory/facts/<int:pk>", memory_api.MemoryFact.as_view(), name="api-memory-fact"),
    path("chat/conversation", sse.Conversation.as_view(), name="api-conversation"),
]
