"""DRF views with coroutines as handlers, for streams and for waiting until an answer is complete."""

from collections.abc import Iterable
from typing import Any

from asgiref.sync import sync_to_async
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.http.response import HttpResponseBase
from rest_framework.exceptions import APIException
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from ragsite.api.negotiation import Negotiation
from ragsite.exceptions import Refused


class FirstRenderer(Negotiation):
    """Select the first renderer whatever `Accept` says: clients of streams send `text/event-stream`, but get errors
    as JSON.
    """

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Return the first renderer and its media type."""
        renderer = next(iter(renderers))
        return renderer, str(renderer.media_type)


class AsyncAPIView(APIView):
    """An `APIView` with `async def` handlers; authentication and permissions run on Django's database thread.

    Handlers return a DRF `Response` or any Django response, including streaming ones. Errors of DRF, `Http404` and
    `Refused` are handled as in other views; any other exception is a bug and propagates.
    """

    view_is_async = True
    content_negotiation_class = FirstRenderer

    async def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:  # type: ignore[override]
        """Do the same as `APIView.dispatch`, awaiting the handler."""
        self.args, self.kwargs = args, kwargs
        self.request = self.initialize_request(request, *args, **kwargs)
        self.headers = self.default_response_headers
        response: HttpResponseBase
        try:
            await sync_to_async(self.initial)(self.request, *args, **kwargs)
            method = (self.request.method or "").lower()
            known = method in self.http_method_names
            handler: Any = getattr(self, method, self._not_allowed) if known else self._not_allowed
            response = await handler(self.request, *args, **kwargs)
        except (APIException, Http404, PermissionDenied, Refused) as error:
            response = await sync_to_async(self.handle_exception)(error)
        self.response = self.finalize_response(self.request, response, *args, **kwargs)  # type: ignore[arg-type]
        return self.response

    async def _not_allowed(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return self.http_method_not_allowed(request, *args, **kwargs)

    async def options(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:  # type: ignore[override]
        """Describe the view, as DRF does."""
        return await sync_to_async(super().options)(request, *args, **kwargs)
