"""URLs of the knowledge pages, under `/knowledge/`."""

from django.urls import path

from knowledge.web import document_views, invitation_views, views

urlpatterns = [
    path("", views.knowledge, name="knowledge"),
    path("<int:pk>/", views.knowledge_base, name="knowledge-base"),
    path("<int:pk>/upload/", views.upload, name="knowledge-base-upload"),
    path("<int:pk>/upload/summary/", views.upload_summary, name="knowledge-base-upload-summary"),
    path("<int:pk>/bulk/", views.bulk_documents, name="knowledge-base-bulk"),
    path("bulk-jobs/<int:pk>/", views.bulk_job, name="bulk-job"),
    path("documents/<int:pk>/labels/", document_views.labels, name="document-labels"),
    path("<int:pk>/settings/", views.knowledge_base_settings, name="knowledge-base-settings"),
    path("<int:pk>/members/", views.members, name="knowledge-base-members"),
    path("<int:pk>/members/<int:user_id>/remove/", views.remove_member, name="knowledge-base-member-remove"),
    path("<int:pk>/groups/<int:group_id>/remove/", views.remove_group, name="knowledge-base-group-remove"),
    path("<int:pk>/invitations/", invitation_views.invite_to_base, name="knowledge-base-invitations"),
    path(
        "<int:pk>/invitations/<int:invitation_id>/revoke/",
        invitation_views.revoke_invitation,
        name="knowledge-base-invitation-revoke",
    ),
    path("<int:pk>/delete/", views.delete_knowledge_base, name="knowledge-base-delete"),
    path("documents/<int:pk>/", document_views.document, name="document"),
    path("documents/<int:pk>/row/", document_views.row, name="document-row"),
    path("documents/<int:pk>/state/", document_views.document_state, name="document-state"),
    path("documents/<int:pk>/retry/", document_views.retry, name="document-retry"),
    path("documents/<int:pk>/cancel/", document_views.cancel, name="document-cancel"),
    path("documents/<int:pk>/delete/", document_views.delete, name="document-delete"),
    path("documents/<int:pk>/file", document_views.file, name="document-file"),
    path("documents/<int:pk>/pages/<int:number>.png", document_views.page_image, name="document-page"),
    path("documents/<int:pk>/pages/<int:number>.json", document_views.page_layer, name="document-page-layer"),
    path("pictures/<int:pk>", document_views.picture, name="picture"),
    path("passages/<int:pk>/", document_views.passage, name="passage"),
]
