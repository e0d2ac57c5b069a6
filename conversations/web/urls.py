"""The addresses of the chat's pages."""

from django.urls import include, path

from conversations.web import pipeline_views, session_views, share_views, turn_views

urlpatterns = [
    path("", session_views.chat, name="chat"),
    path("c/new/", session_views.new_session, name="new-session"),
    path("c/search/", session_views.search_sessions, name="search-sessions"),
    path("c/<int:pk>/", session_views.session, name="session"),
    path("c/<int:pk>/rename/", session_views.rename_session, name="rename-session"),
    path("c/<int:pk>/pin/", session_views.pin_session, name="pin-session"),
    path("c/<int:pk>/delete/", session_views.delete_session, name="delete-session"),
    path("c/<int:pk>/restore/", session_views.restore_session, name="restore-session"),
    path("c/<int:pk>/scope/", session_views.choose_scope, name="choose-scope"),
    path("knowledge/<int:pk>/ask/", session_views.ask_knowledge_base, name="ask-knowledge-base"),
    path("knowledge/documents/<int:pk>/ask/", session_views.ask_document, name="ask-document"),
    path("c/<int:pk>/share/", share_views.share, name="share"),
    path("c/<int:pk>/export.md", share_views.export_markdown, name="export-markdown"),
    path("c/<int:pk>/export.json", share_views.export_json, name="export-json"),
    path("shared/", share_views.share_links, name="share-links"),
    path("shared/<uuid:uuid>/", share_views.shared, name="shared"),
    path("shared/<uuid:uuid>/revoke/", share_views.revoke_link, name="revoke-link"),
    path("knowledge/<int:pk>/links/", share_views.knowledge_base_links, name="knowledge-base-links"),
    path("knowledge/<int:pk>/links/<uuid:uuid>/revoke/", share_views.revoke_quoting_link, name="revoke-quoting-link"),
    path("c/<int:pk>/ask/", turn_views.ask, name="ask"),
    path("c/<int:pk>/stop/", turn_views.stop, name="stop"),
    path("turns/<int:pk>/edit/", turn_views.edit_question, name="edit-question"),
    path("turns/<int:pk>/question/", turn_views.question, name="question"),
    path("turns/<int:pk>/trace/", turn_views.trace, name="trace"),
    path("messages/<int:pk>/regenerate/", turn_views.regenerate, name="regenerate"),
    path("messages/<int:pk>/continue/", turn_views.continue_answer, name="continue"),
    path("messages/<int:pk>/feedback/", turn_views.feedback, name="feedback"),
    path("messages/<int:pk>/add-to-set/", turn_views.add_to_set, name="add-answer-to-set"),
    path("messages/<int:pk>/citations/<int:number>/", turn_views.citation, name="citation"),
    path("", include("conversations.web.memory_urls")),
    path("pipeline/", pipeline_views.pipeline_graph, name="pipeline"),
    path("pipeline/settings/", pipeline_views.settings_page, name="pipeline-settings"),
]
