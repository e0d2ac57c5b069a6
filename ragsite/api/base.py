"""What all DRF endpoints share: the shape of errors and lists."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_exception_handler

from ragsite.exceptions import Refused

# The codes of what is refused by the status of the answer; all others are 400. A view's own `statuses` go before.
_CODES = {
    403: "not_allowed",
    404: "unknown_user unknown_group unknown_passages unknown_parent unknown_model no_assistant",
    409: "name_taken is_owner busy already_there too_many options_conflict memory_full fact_known request_id_taken "
    "not_cut nothing_came assistant_unusable",
    413: "too_large storage_full",
    415: "unsupported missing_tool",
    429: "too_many_turns questions_used_up tokens_used_up",
}
_STATUSES = {code: status for status, codes in _CODES.items() for code in codes.split()}
# Seconds in which one of the caller's answers may well have ended; how long they really take, nobody knows.
_WAIT_FOR_A_TURN = 5


class ApiErrorSerializer(serializers.Serializer[Any]):
    """Every error: words for a person, a stable slug for a program."""

    detail = serializers.CharField()
    code = serializers.CharField()
    errors = serializers.JSONField(  # type: ignore[assignment]  # fields are no attributes
        required=False, help_text="What is wrong with which field, where fields are: lists of messages by their names."
    )


class _Refusal(APIException):
    """What is well said but can't be done, as an answer; 429 says when it may be."""

    def __init__(self, refused: Refused, statuses: dict[str, int]) -> None:
        super().__init__(refused.message, refused.code)
        self.status_code = statuses.get(refused.code, status.HTTP_400_BAD_REQUEST)
        if self.status_code == status.HTTP_429_TOO_MANY_REQUESTS:
            self.wait = refused.wait or _WAIT_FOR_A_TURN  # sent as Retry-After


class Conflict(APIException):
    """What is asked for doesn't fit the state of things."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


def validated(form: serializers.BaseSerializer[Any]) -> Any:
    """Return what was sent as a serializer reads it; raises `ValidationError`."""
    form.is_valid(raise_exception=True)
    return form.validated_data


# What `counted` reads, for OpenAPI.
ID: dict[str, Any] = {"type": "integer", "minimum": 1}


def counted(request: Request, name: str) -> int | None:
    """Return a parameter of the address that counts from 1, None where it is left out; raises `ValidationError`."""
    given = request.query_params.get(name)
    if given is None:
        return None
    if not (given.isascii() and given.isdecimal() and int(given[:20])):
        raise ValidationError({name: [_("This takes a whole number from 1.")]})
    return int(given[:20])


class Pagination(PageNumberPagination):
    """`?page=` and `?page_size=`, which is 200 at most."""

    page_size_query_param = "page_size"
    max_page_size = 200

    def get_page_size(self, request: Request) -> int | None:
        """Return how many are on a page; raises `ValidationError` for what is no number."""
        counted(request, "page_size")
        return super().get_page_size(request)

    def get_page_number(self, request: Request, paginator: Any) -> int | str:
        """Return the page's number, or "last"; raises `ValidationError` for anything else."""
        if request.query_params.get("page") not in self.last_page_strings:
            counted(request, "page")
        return super().get_page_number(request, paginator)

    def get_schema_operation_parameters(self, view: Any) -> list[Any]:
        """Describe both, which count from 1."""
        parameters = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            parameter["schema"]["minimum"] = 1
        return parameters


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Answer every error as `{"detail", "code"}`, with `errors` by field where there are fields; in JSON always."""
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
    """Return the first message of nested field errors, named by its field."""
    if isinstance(data, dict):
        field, value = next(iter(data.items()))
        return f"{field}: {_first(value)}"
    if isinstance(data, list) and data:
        return _first(data[0])
    return str(data)
