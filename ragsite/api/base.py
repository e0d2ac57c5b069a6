"""The common parts of DRF endpoints: the format of errors and lists."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from django.db.models import F, QuerySet
from django.db.models.expressions import OrderBy
from django.utils.translation import gettext as _
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.filters import BaseFilterBackend
from rest_framework.pagination import PageNumberPagination
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_exception_handler

from ragsite.exceptions import Refused

# Codes of `Refused` by status; all others are 400. A view's own `statuses` take precedence.
_CODES = {
    403: "not_allowed",
    404: "unknown_user unknown_group unknown_passages unknown_parent unknown_model no_assistant",
    409: "name_taken is_owner busy already_there too_many options_conflict memory_full fact_known request_id_taken "
    "not_cut nothing_came assistant_unusable",
    413: "too_large storage_full",
    415: "unsupported missing_tool",
    507: "disk_full",
    429: "too_many_turns questions_used_up tokens_used_up",
}
_STATUSES = {code: status for status, codes in _CODES.items() for code in codes.split()}
# A guess at the seconds until one of the caller's running answers is complete.
_WAIT_FOR_A_TURN = 5


class ApiErrorSerializer(serializers.Serializer[Any]):
    """Every error: a message for people, and a stable code for programs."""

    detail = serializers.CharField()
    code = serializers.CharField()
    errors = serializers.JSONField(  # type: ignore[assignment]  # fields are no attributes
        required=False, help_text="For invalid fields: lists of messages, by the name of the field."
    )


class _Refusal(APIException):
    """A `Refused` as an API error; with status 429 it includes the seconds to wait."""

    def __init__(self, refused: Refused, statuses: dict[str, int]) -> None:
        super().__init__(refused.message, refused.code)
        self.status_code = statuses.get(refused.code, status.HTTP_400_BAD_REQUEST)
        if self.status_code == status.HTTP_429_TOO_MANY_REQUESTS:
            self.wait = refused.wait or _WAIT_FOR_A_TURN  # sent as Retry-After


class Conflict(APIException):
    """The request conflicts with the current state of the object."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


def validated(form: serializers.BaseSerializer[Any]) -> Any:
    """Return the validated data of a serializer; raises `ValidationError`."""
    form.is_valid(raise_exception=True)
    return form.validated_data


# OpenAPI's type of the parameters that `counted` reads.
ID: dict[str, Any] = {"type": "integer", "minimum": 1}


def counted(request: Request, name: str) -> int | None:
    """Return a query parameter that is a positive integer, or None if it is missing; raises `ValidationError`."""
    given = request.query_params.get(name)
    if given is None:
        return None
    if not (given.isascii() and given.isdecimal() and int(given[:20])):
        raise ValidationError({name: [_("Enter a whole number of at least 1.")]})
    return int(given[:20])


class ListParameters(BaseFilterBackend):
    """`?ordering=` and `?since=` of lists, with pages or without.

    A view's `orderings` are the fields to order by for each name, its `since` the name of a field with a time. If its
    list is no query set, they are attributes of its rows. A list without them refuses these parameters: ignoring them
    would return other objects than were asked for.
    """

    def filter_queryset(self, request: Request, queryset: Any, view: Any) -> Any:
        """Return the ordered and limited list; raises `ValidationError` for an unknown order or an invalid time."""
        orderings, since = getattr(view, "orderings", {}), getattr(view, "since", "")
        stored = isinstance(queryset, QuerySet)
        if (order := request.query_params.get("ordering")) is not None:
            if order not in _both_ways(orderings):
                known = _("Must be one of: {values}.").format(values=", ".join(_both_ways(orderings)))
                raise ValidationError({"ordering": [known if orderings else _("This list can't be ordered.")]})
            fields, descending = orderings[order.removeprefix("-")], order.startswith("-")
            if stored:
                terms = (F(field) if isinstance(field, str) else field for field in fields)
                queryset = queryset.order_by(*(OrderBy(term, descending=descending) for term in terms))
            else:

                def values(row: Any) -> list[Any]:
                    found = (attrgetter(field)(row) for field in fields)
                    return [value.casefold() if isinstance(value, str) else value for value in found]

                queryset = sorted(queryset, key=values, reverse=descending)
        if (given := request.query_params.get("since")) is not None:
            if not since:
                raise ValidationError({"since": [_("This list can't be limited to a time.")]})
            try:
                time = serializers.DateTimeField().run_validation(given)
            except ValidationError as error:
                raise ValidationError({"since": error.detail}) from None
            if stored:
                queryset = queryset.filter(**{f"{since}__gte": time})
            else:
                queryset = [row for row in queryset if attrgetter(since)(row) >= time]
        return queryset

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Describe those parameters that the list takes."""
        described: dict[str, dict[str, Any]] = {}
        if orderings := getattr(view, "orderings", {}):
            described["ordering"] = {"type": "string", "enum": _both_ways(orderings)}
        if getattr(view, "since", ""):
            described["since"] = {"type": "string", "format": "date-time"}
        texts = {"ordering": "The order of the list; `-` reverses it.", "since": "Only those with this time or later."}
        return [
            {"name": name, "required": False, "in": "query", "description": texts[name], "schema": schema}
            for name, schema in described.items()
        ]


def _both_ways(orderings: Iterable[str]) -> list[str]:
    return [f"{sign}{name}" for name in orderings for sign in ("-", "")]


class Pagination(PageNumberPagination):
    """Pagination with `?page=` and `?page_size=`, which is at most 200."""

    page_size_query_param = "page_size"
    max_page_size = 200

    def get_page_size(self, request: Request) -> int | None:
        """Return the page size; raises `ValidationError` if it isn't a number."""
        counted(request, "page_size")
        return super().get_page_size(request)

    def get_page_number(self, request: Request, paginator: Any) -> int | str:
        """Return the page number, or "last"; raises `ValidationError` for anything else."""
        if request.query_params.get("page") not in self.last_page_strings:
            counted(request, "page")
        return super().get_page_number(request, paginator)

    def get_schema_operation_parameters(self, view: Any) -> list[Any]:
        """Describe the parameters; the numbers have 1 as their minimum."""
        parameters = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            parameter["schema"]["minimum"] = 1
        return parameters


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return every error as `{"detail", "code"}`, plus `errors` if fields are invalid; always in JSON."""
    if isinstance(error, Refused):
        error = _Refusal(error, _STATUSES | getattr(context.get("view"), "statuses", {}))
    response = drf_exception_handler(error, context)
    if response is None:
        return None
    if request := context.get("request"):
        request.accepted_renderer, request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
    codes = error.get_codes() if isinstance(error, APIException) else None
    if isinstance(response.data, dict) and "detail" in response.data:
        if isinstance(codes, str):
            code = codes
        elif isinstance(codes, dict) and isinstance(codes.get("detail"), str):
            code = str(codes["detail"])
        else:
            code = {404: "not_found", 403: "permission_denied"}.get(response.status_code, "error")
        response.data = {"detail": str(response.data["detail"]), "code": code}
    else:
        response.data = {"detail": _first(response.data), "code": "invalid", "errors": response.data}
    return response


def _first(data: Any) -> str:
    """Return the first message of nested field errors, preceded by the name of its field."""
    if isinstance(data, dict):
        field, value = next(iter(data.items()))
        return f"{field}: {_first(value)}"
    if isinstance(data, list) and data:
        return _first(data[0])
    return str(data)
