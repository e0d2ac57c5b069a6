"""`/api/search`: a thin layer over `retrieval.search`."""

from asgiref.sync import async_to_sync
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from knowledge import access
from ragsite.api.base import ApiErrorSerializer, validated
from ragsite.site_settings.config import refresh
from retrieval.api.serializers import SearchRequestSerializer, SearchResultSerializer
from retrieval.search import SearchFailed, SearchOverloaded, search


class SearchUnavailable(APIException):
    """No retriever could answer."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_code = "search_unavailable"
    wait = 5  # seconds, sent as Retry-After


class SearchBusy(APIException):
    """Too many searches are running."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_code = "search_overloaded"
    wait = 1  # seconds, sent as Retry-After


_ANSWERS = {200: SearchResultSerializer, 404: ApiErrorSerializer}


class SearchView(APIView):
    """Search the knowledge bases that the caller may read."""

    @extend_schema(operation_id="search", request=SearchRequestSerializer, responses=_ANSWERS)
    def post(self, request: Request) -> Response:
        """Return the passages found, with the ranks and scores of both retrievers."""
        form = SearchRequestSerializer(data=request.data)
        wanted = validated(form)
        if (named := wanted.get("knowledge_bases")) is None:
            bases = sorted(access.at_hand(request.user).values_list("pk", flat=True))
        else:
            bases = access.readable_ids(request.user, named)
        documents = access.readable_document_ids(request.user, wanted.get("documents", []))
        if "documents" in wanted and not documents:
            bases = []
        refresh()
        sought = form.to_request(tuple(bases), tuple(documents))
        try:
            result = async_to_sync(search)(sought)
        except SearchOverloaded as error:
            raise SearchBusy(str(error)) from error
        except SearchFailed as error:
            raise SearchUnavailable(str(error)) from error
        hits = [hit.to_dict() for hit in result.hits]
        return Response({"hits": hits, "query": wanted["query"], "took_ms": result.took_ms, "notes": result.notes})
