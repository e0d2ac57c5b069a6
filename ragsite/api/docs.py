"""The API's documentation page: a lightweight list of operations, with Swagger UI on a separate page."""

import re
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from ragsite.api.schema import document


class Operation(NamedTuple):
    """A method of a path, with the schema's `tag` and `id`."""

    tag: str
    id: str
    method: str
    path: str
    summary: SafeString


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """List all operations."""
    groups = [(tag, tag.replace("-", " ").capitalize(), each) for tag, each in operations().items()]
    return render(request, "ragsite/api.html", {"groups": groups})


def operations() -> dict[str, list[Operation]]:
    """Return the operations by tag."""
    schema = document(get_language())
    found: dict[str, list[Operation]] = {}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            tag, about = operation["tags"][0], operation.get("description", "").partition("\n\n")[0]
            summary = mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(about)))
            found.setdefault(tag, []).append(Operation(tag, operation["operationId"], method.upper(), path, summary))
    return found
