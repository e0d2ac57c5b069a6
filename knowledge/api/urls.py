"""URLs of the API, under `/api/`."""

from django.urls import path

from knowledge.api import invitations, views

urlpatterns = [
    path("knowledge-bases", views.KnowledgeBaseList.as_view(), name="api-knowledge-bases"),
    path("knowledge-bases/<int:pk>", views.KnowledgeBaseDetail.as_view(), name="api-knowledge-base"),
    path("knowledge-bases/<int:pk>/members", views.MemberList.as_view(), name="api-members"),
    path("knowledge-bases/<int:pk>/members/<int:user_id>", views.MemberDetail.as_view(), name="api-member"),
    path("knowledge-bases/<int:pk>/groups", views.SharedGroupList.as_view(), name="api-shared-groups"),
    path("knowledge-bases/<int:pk>/groups/<int:group_id>", views.SharedGroupDetail.as_view(), name="api-shared-group"),
    path("knowledge-bases/<int:pk>/invitations", invitations.InvitationList.as_view(), name="api-invitations"),
    path(
        "knowledge-bases/<int:pk>/invitations/<int:invitation_id>",
        invitations.InvitationDetail.as_view(),
        name="api-invitation",
    ),
    path("knowledge-bases/<int:pk>/documents", views.DocumentList.as_view(), name="api-documents"),
    path("knowledge-bases/<int:pk>/documents/bulk", views.BulkJobs.as_view(), name="api-documents-bulk"),
    path("bulk-jobs/<int:pk>", views.BulkJobDetail.as_view(), name="api-bulk-job"),
    path("formats", views.FormatList.as_view(), name="api-formats"),
    path("documents/<int:pk>", views.DocumentDetail.as_view(), name="api-document"),
    path("documents/<int:pk>/chunks", views.ChunkList.as_view(), name="api-document-chunks"),
    path("documents/<int:pk>/file", views.DocumentFile.as_view(), name="api-document-file"),
    path("documents/<int:pk>/reingest", views.Reingest.as_view(), name="api-document-reingest"),
    path("documents/<int:pk>/cancel", views.Cancel.as_view(), name="api-document-cancel"),
]
