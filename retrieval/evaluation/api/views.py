"""`/api/evaluation-sets` and `/api/evaluation-runs`: question sets and their runs."""

import json
from typing import Any

from django.db.models import Count, QuerySet
from django.http import HttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils import html
from rest_framework.views import APIView

from knowledge.access import get_knowledge_base
from ragsite.api.async_views import FirstRenderer
from ragsite.api.base import ID, ApiErrorSerializer, counted, validated
from retrieval.evaluation import access, runs, sets
from retrieval.evaluation.api.serializers import (
    EvaluationSetSerializer,
    NewQuestionSerializer,
    NewSetSerializer,
    QuestionSerializer,
    ResultSerializer,
    RunOptionsSerializer,
    RunSerializer,
    SetFileSerializer,
)
from retrieval.evaluation.models import EvaluationQuestion, EvaluationResult, EvaluationRun, EvaluationSet
from retrieval.evaluation.options import RunOptions
from retrieval.evaluation.questions import QuestionDraft


class SetList(generics.ListAPIView[EvaluationSet]):
    """List the sets that the caller may view, or create one on a base that they may read."""

    serializer_class = EvaluationSetSerializer
    queryset = EvaluationSet.objects.none()

    def get_queryset(self) -> QuerySet[EvaluationSet]:
        """Return the sets ordered by name; `?knowledge_base=` selects those of one base."""
        found = _counted(access.visible_sets(self.request.user))
        base = counted(self.request, "knowledge_base")
        return found if base is None else found.filter(knowledge_base_id=base)

    @extend_schema(parameters=[OpenApiParameter("knowledge_base", ID)])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the sets."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        request={"application/json": NewSetSerializer, "multipart/form-data": SetFileSerializer},
        responses={201: EvaluationSetSerializer, 404: ApiErrorSerializer, 409: ApiErrorSerializer},
    )
    def post(self, request: Request) -> Response:
        """Create a set of the given questions, or an empty one."""
        kind = SetFileSerializer if html.is_html_input(request.data) else NewSetSerializer
        given = validated(kind(data=request.data))
        base = get_knowledge_base(request.user, given["knowledge_base"])

        drafts: list[QuestionDraft] = []
        if given.get("file") is not None:
            drafts = sets.parse_upload(given["file"])
        elif given.get("questions"):
            drafts = sets.parse_questions(json.dumps(question).encode() for question in given["questions"])
        made = sets.create_set(request.user, base, given["name"], drafts)
        return Response(_shown(made), status=status.HTTP_201_CREATED)


class SetDetail(APIView):
    """Retrieve, rename or delete a set."""

    @extend_schema(responses=EvaluationSetSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return the set's name, base and number of questions."""
        return Response(_shown(access.get_set(request.user, pk)))

    @extend_schema(request=EvaluationSetSerializer, responses={200: EvaluationSetSerializer, 409: ApiErrorSerializer})
    def patch(self, request: Request, pk: int) -> Response:
        """Rename the set."""
        found = access.get_alterable_set(request.user, pk)
        given = validated(EvaluationSetSerializer(found, data=request.data, partial=True))
        return Response(_shown(sets.rename_set(found, given.get("name", found.name))))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Delete the set with its runs, including unfinished ones."""
        access.get_alterable_set(request.user, pk).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


class QuestionList(generics.ListAPIView[EvaluationQuestion]):
    """List the questions of a set, or add one."""

    serializer_class = QuestionSerializer
    queryset = EvaluationQuestion.objects.none()

    def get_queryset(self) -> QuerySet[EvaluationQuestion]:
        """Return the questions in the order in which they were added."""
        return access.get_set(self.request.user, self.kwargs["pk"]).questions.order_by("pk")

    @extend_schema(request=NewQuestionSerializer, responses={201: QuestionSerializer, 409: ApiErrorSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Add a question; if it already exists, add the passages to it."""
        found = access.get_alterable_set(request.user, pk)
        given = validated(NewQuestionSerializer(data=request.data))
        added = sets.add_question(found, given["text"], given["chunks"], given["grade"])
        return Response(QuestionSerializer(added).data, status=status.HTTP_201_CREATED)


class QuestionDetail(APIView):
    """Delete a question of a set."""

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int, question_id: int) -> Response:
        """Delete the question."""
        if not sets.remove_question(access.get_alterable_set(request.user, pk), question_id):
            raise NotFound
        return Response(status=status.HTTP_204_NO_CONTENT)


class SetExport(APIView):
    """Export a set as a file."""

    content_negotiation_class = FirstRenderer

    # Declared as text: JSON lines have no media type that generated clients would know.
    @extend_schema(responses={(200, "text/plain"): OpenApiTypes.STR})
    def get(self, request: Request, pk: int) -> HttpResponse:
        """Return JSON lines that can be imported into another site or run with `manage.py evaluate`."""
        found = access.get_set(request.user, pk)
        response = HttpResponse("".join(sets.export(found)), content_type="text/plain; charset=utf-8")
        response.headers["Content-Disposition"] = content_disposition_header(True, f"{found.name}.jsonl")
        return response


class RunList(generics.ListAPIView[EvaluationRun]):
    """List the runs of a set, oldest first, or start one."""

    serializer_class = RunSerializer
    queryset = EvaluationRun.objects.none()
    statuses = {"no_questions": 409}

    def get_queryset(self) -> QuerySet[EvaluationRun]:
        """Return the runs, after failing those whose worker is gone."""
        runs.fail_stalled()
        return access.get_set(self.request.user, self.kwargs["pk"]).runs.select_related("started_by")

    @extend_schema(
        request=RunOptionsSerializer, responses={202: RunSerializer, 404: ApiErrorSerializer, 409: ApiErrorSerializer}
    )
    def post(self, request: Request, pk: int) -> Response:
        """Queue a run; if an identical one is unfinished, return that one."""
        found = access.get_set(request.user, pk)
        try:
            options = RunOptions.from_dict(validated(RunOptionsSerializer(data=request.data)))
        except ValueError as error:
            raise sets.SetRefused("options_conflict", str(error)) from None
        run = runs.start(found, options, request.user)
        return Response(RunSerializer(run).data, status=status.HTTP_202_ACCEPTED)


class RunDetail(APIView):
    """Retrieve or delete a run."""

    @extend_schema(responses=RunSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return the run's progress, and its figures once it is done."""
        runs.fail_stalled()
        return Response(RunSerializer(access.get_run(request.user, pk)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Delete the run, even if it is unfinished."""
        access.get_alterable_run(request.user, pk).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


class ResultList(generics.ListAPIView[EvaluationResult]):
    """List the results of a run, question by question."""

    serializer_class = ResultSerializer
    queryset = EvaluationResult.objects.none()

    def get_queryset(self) -> QuerySet[EvaluationResult]:
        """Return the results in the order of the questions."""
        return access.get_run(self.request.user, self.kwargs["pk"]).results.order_by("pk")


def _counted(found: QuerySet[EvaluationSet]) -> QuerySet[EvaluationSet]:
    return found.select_related("owner").annotate(question_count=Count("questions")).order_by("name", "pk")


def _shown(evaluation_set: EvaluationSet) -> Any:
    counted = _counted(EvaluationSet.objects.filter(pk=evaluation_set.pk)).get()
    return EvaluationSetSerializer(counted).data
