"""Additions to the generated OpenAPI document."""

from functools import cache
from typing import Any

from django.utils.translation import get_language
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_basic_type
from drf_spectacular.types import OpenApiTypes
from rest_framework.parsers import FormParser, JSONParser
from rest_framework.settings import api_settings

from ragsite.api.async_views import FirstRenderer
from ragsite.api.base import ApiErrorSerializer
from ragsite.api.fields import TextField
from ragsite.runtime import caches

_RETRY_AFTER = {
    "Retry-After": {"schema": build_basic_type(OpenApiTypes.INT), "description": "Seconds to wait before trying again."}
}
# Errors of the framework, of the site's limits and of an unavailable database, in addition to those a view declares.
_ERRORS = {
    "400": "The request is malformed or invalid.",
    "401": "The token is missing or invalid.",
    "403": "The caller may read the object but not change it, or the CSRF token is missing.",
    "404": "The object does not exist, or the caller has no access to it.",
    "406": "The response is JSON, which `Accept` rules out.",
    "413": "The body exceeds the site's limit.",
    "415": "The media type of the body is not supported.",
    "429": "Too many requests.",
    "503": "The database or a part of the site is temporarily unavailable.",
}


class ApiSchema(AutoSchema):
    """Declares the errors that every operation may return, and the parameters of lists only for reading them."""

    def map_parsers(self) -> list[Any]:
        """Return the media types of bodies: JSON, unless the view sets its own; forms can't represent every value."""
        parsers: Any = self.view.parser_classes
        if parsers == api_settings.DEFAULT_PARSER_CLASSES:
            return [JSONParser.media_type]
        return [name for name in super().map_parsers() if name != FormParser.media_type]

    def get_filter_backends(self) -> list[Any]:
        """Return the view's filters when a list is read."""
        return super().get_filter_backends() if self.method == "GET" else []

    def _get_paginator(self) -> Any:
        return super()._get_paginator() if self.method == "GET" else None  # type: ignore[no-untyped-call]

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        responses: Any = super()._get_response_bodies(direction)
        codes = {"401", "429", "503"}
        parameters = self._get_parameters()
        has_body = self._get_request_body() is not None  # type: ignore[no-untyped-call]
        if self.method in ("POST", "PUT", "PATCH") or any(given["in"] != "path" for given in parameters):
            codes.add("400")
        if "{" in self.path or any(given["name"] == "page" for given in parameters):
            codes.add("404")
        if self.method not in ("GET", "HEAD"):
            codes.add("403")
        if has_body:
            codes |= {"413", "415"}
        if not issubclass(self.view.content_negotiation_class, FirstRenderer):
            codes.add("406")
        for code in codes:
            error: Any = self._get_response_for_code(  # type: ignore[no-untyped-call]
                ApiErrorSerializer, code, None, direction
            )
            declared = responses.setdefault(code, error)
            declared["content"] = {"application/json": next(iter(declared["content"].values()))}
            declared["description"] = declared["description"] or _ERRORS[code]
            if code in ("429", "503"):
                declared["headers"] = _RETRY_AFTER
        return dict(sorted(responses.items()))

    def _map_serializer(self, serializer: Any, direction: Any, bypass_extensions: bool = False) -> Any:
        """State that one field of `either` is required, and that at most one list of `not_both` may be non-empty.

        `oneOf` isn't used, since client generators create a type for each alternative.
        """
        schema = super()._map_serializer(serializer, direction, bypass_extensions)  # type: ignore[no-untyped-call]
        if direction == "request" and (either := getattr(serializer, "either", None)):
            schema |= {"if": {"not": {"required": [either[0]]}}, "then": {"required": [either[1]]}}
        if direction == "request" and (lists := getattr(serializer, "not_both", None)):
            filled = {"required": list(lists), "properties": {name: {"minItems": 1} for name in lists}}
            schema |= {"not": filled}
        return schema

    def _insert_field_validators(self, field: Any, schema: Any) -> None:
        """Add the constraints that the generator doesn't know: patterns of strings, and lists that can't be empty."""
        super()._insert_field_validators(field, schema)  # type: ignore[no-untyped-call]
        if isinstance(field, TextField):
            schema["pattern"] = field.pattern
        if not getattr(field, "allow_empty", True) and schema.get("type") == "array":
            schema["minItems"] = 1


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """`Authorization: Token <key>`."""

    target_class = "ragsite.accounts.tokens.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        """Describe the header."""
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Token ` followed by a key, from the account page or `manage.py create_token`.",
        }


class CachedGenerator(SchemaGenerator):
    """Generates the document once per process and language, since that takes most of a second."""

    def get_schema(self, request: Any = None, public: bool = False) -> Any:
        """Return the document, which is the same for all users."""
        return document(get_language())


@cache
def document(language: str | None) -> Any:
    """Return the OpenAPI document in a language; it must not be changed."""
    return SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]


caches.register(document.cache_clear)


def use_null_type(result: Any, generator: Any = None, **kwargs: Any) -> Any:
    """Replace `nullable`, which OpenAPI 3.1 doesn't have but drf-spectacular writes for pages and type hints."""
    if isinstance(result, dict):
        if result.get("nullable") is True and isinstance(result.get("type"), str):
            result["type"] = [result["type"], "null"]
            del result["nullable"]
        for value in result.values():
            use_null_type(value)
    elif isinstance(result, list):
        for value in result:
            use_null_type(value)
    return result
