"""API routes of question sets and their runs, below `/api/`."""

from django.urls import path

from retrieval.evaluation.api import views

urlpatterns = [
    path("evaluation-sets", views.SetList.as_view(), name="api-evaluation-sets"),
    path("evaluation-sets/<int:pk>", views.SetDetail.as_view(), name="api-evaluation-set"),
    path("evaluation-sets/<int:pk>/questions", views.QuestionList.as_view(), name="api-evaluation-questions"),
    path(
        "evaluation-sets/<int:pk>/questions/<int:question_id>",
        views.QuestionDetail.as_view(),
        name="api-evaluation-question",
    ),
    path("evaluation-sets/<int:pk>/export", views.SetExport.as_view(), name="api-evaluation-export"),
    path("evaluation-sets/<int:pk>/runs", views.RunList.as_view(), name="api-evaluation-runs"),
    path("evaluation-runs/<int:pk>", views.RunDetail.as_view(), name="api-evaluation-run"),
    path("evaluation-runs/<int:pk>/results", views.ResultList.as_view(), name="api-evaluation-results"),
]
