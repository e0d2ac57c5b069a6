"""What all DRF endpoints share: the shape of errors and lists."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_exception_handler


class ApiErrorSerializer(serializers.Serializer[Any]):
    """Every error: words for a person, a stable slug for a program."""

    detail = serializers.CharField()
    code = serializers.CharField()
    errors = serializers.JSONField(  # type: ignore[assignment]  # fields are no attributes
        required=False, help_text="What is wrong with which field, where fields are: lists of messages by their names."
    )


class TextField(serializers.CharField):
    """A text. What is not one, as a number, is refused rather than written out."""

    def to_internal_value(self, data: Any) -> str:
        """Read the text."""
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


class Pagination(PageNumberPagination):
    """`?page=` and `?page_size=`, which is 200 at most."""

    page_size_query_param = "page_size"
    max_page_size = 200

    def get_page_size(self, request: Request) -> int | None:
        """Return how many are on a page; raises `ValidationError` for what is no number."""
        self._check(request, "page_size")
        return super().get_page_size(request)

    def get_page_number(self, request: Request, paginator: Any) -> int | str:
        """Return the page's number, or "last"; raises `ValidationError` for anything else."""
        if request.query_params.get("page") not in self.last_page_strings:
            self._check(request, "page")
        return super().get_page_number(request, paginator)

    def get_schema_operation_parameters(self, view: Any) -> list[Any]:
        """Describe both, which count from 1."""
        parameters = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            parameter["schema"]["minimum"] = 1
        return parameters

    def _check(self, request: Request, name: str) -> None:
        given = request.query_params.get(name, "1")
        if not given.isdecimal() or not int(given[:20]):
            raise ValidationError({name: [_("This takes a whole number from 1.")]})


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Answer every error as `{"detail", "code"}`, with `errors` by field where there are fields."""
    response = drf_exception_handler(error, context)
    if response is None:
        return None
    codes = error.get_codes() if isinstance(error, APIException) else None
    if isinstance(response.data, dict) and "detail" in response.data:
        response.data = {"detail": str(response.data["detail"]), "code": _code(codes, response.status_code)}
    else:
        response.data = {"detail": _first(response.data), "code": "invalid", "errors": response.data}
    return response


def _code(codes: Any, status: int) -> str:
    if isinstance(codes, str):
        return codes
    if isinstance(codes, dict) and isinstance(codes.get("detail"), str):
        return str(codes["detail"])
    return {404: "not_found", 403: "permission_denied"}.get(status, "error")


def _first(data: Any) -> str:
    """Return the first message of nested field errors, named by its field."""
    if isinstance(data, dict):
        field, value = next(iter(data.items()))
        return f"{field}: {_first(value)}"
    if isinstance(data, list) and data:
        return _first(data[0])
    return str(data)
