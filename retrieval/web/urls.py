"""URLs of the playground and the evaluation pages."""

from django.urls import path

from retrieval.web import evaluation_views, question_views, run_views, views

urlpatterns = [
    path("playground/", views.playground, name="playground"),
    path("evaluation/", evaluation_views.evaluation, name="evaluation"),
    path("evaluation/add/", question_views.add, name="evaluation-add"),
    path("evaluation/sets/<int:pk>/", evaluation_views.evaluation_set, name="evaluation-set"),
    path("evaluation/sets/<int:pk>/run/", evaluation_views.start_run, name="evaluation-set-run"),
    path("evaluation/sets/<int:pk>/answers/", evaluation_views.start_answers, name="evaluation-set-answers"),
    path("evaluation/sets/<int:pk>/upload/", evaluation_views.upload_questions, name="evaluation-set-upload"),
    path("evaluation/sets/<int:pk>/export/", evaluation_views.export_set, name="evaluation-set-export"),
    path("evaluation/sets/<int:pk>/rename/", evaluation_views.rename_set, name="evaluation-set-rename"),
    path("evaluation/sets/<int:pk>/delete/", evaluation_views.delete_set, name="evaluation-set-delete"),
    path("evaluation/questions/<int:pk>/", question_views.question, name="evaluation-question"),
    path("evaluation/questions/<int:pk>/remove/", question_views.remove_question, name="evaluation-question-remove"),
    path("evaluation/runs/<int:pk>/", run_views.run, name="evaluation-run"),
    path("evaluation/runs/<int:pk>/delete/", run_views.delete_run, name="evaluation-run-delete"),
]
