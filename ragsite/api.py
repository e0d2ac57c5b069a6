"""What all DRF endpoints share: the shape of errors and lists."""

from typing import Any

from rest_framework.exceptions import APIException
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_exception_handler


class Pagination(PageNumberPagination):
    """`?page=` and `?page_size=` up to 200."""

    page_size_query_param = "page_size"
    max_page_size = 200


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
