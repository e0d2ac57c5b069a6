"""API routes of question sets and their runs, below `/api/`."""

from django.urls import path

from retrieval.evaluation import api

urlpatterns = [
    path("evaluation-sets", api.SetList.as_view(), name="api-evaluation-sets"),
    path("evaluation-sets/<int:pk>", api.SetDetail.as_view(), name="api-evaluation-set"),
    path("evaluation-sets/<int:pk>/questions", api.QuestionList.as_view(), name="api-evaluation-questions"),
    path(
        "evaluation-sets/<int:pk>/questions/<int:question_id>",
        api.QuestionDetail.as_view(),
        name="api-evaluation-question",
    ),
    path("evaluation-sets/<int:pk>/export", api.SetExport.as_view(), name="api-evaluation-export"),
    path("evaluation-sets/<int:pk>/runs", api.RunList.as_view(), name="api-evaluation-runs"),
    path("evaluation-runs/<int:pk>", api.RunDetail.as_view(), name="api-evaluation-run"),
    path("evaluation-runs/<int:pk>/results", api.ResultList.as_view(), name="api-evaluation-results"),
]
