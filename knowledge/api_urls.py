"""Addresses of the API, under `/api/`."""

from django.urls import path

from knowledge import api

urlpatterns = [
    path("knowledge-bases", api.KnowledgeBaseList.as_view(), name="api-knowledge-bases"),
    path("knowledge-bases/<int:pk>", api.KnowledgeBaseDetail.as_view(), name="api-knowledge-base"),
    path("knowledge-bases/<int:pk>/members", api.MemberList.as_view(), name="api-members"),
    path("knowledge-bases/<int:pk>/members/<int:user_id>", api.MemberDetail.as_view(), name="api-member"),
    path("knowledge-bases/<int:pk>/documents", api.DocumentList.as_view(), name="api-documents"),
    path("documents/<int:pk>", api.DocumentDetail.as_view(), name="api-document"),
    path("documents/<int:pk>/chunks", api.ChunkList.as_view(), name="api-document-chunks"),
    path("documents/<int:pk>/file", api.DocumentFile.as_view(), name="api-document-file"),
    path("documents/<int:pk>/reingest", api.Reingest.as_view(), name="api-document-reingest"),
    path("documents/<int:pk>/cancel", api.Cancel.as_view(), name="api-document-cancel"),
]
