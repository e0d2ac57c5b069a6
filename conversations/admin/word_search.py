"""Searching records in the admin by the words of messages: the index is asked, and no text is read from end to end."""

import re
from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib.postgres.aggregates import ArrayAgg
from django.db import connection, transaction
from django.db.models import Q, QuerySet, TextField
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.utils.text import smart_split, unescape_string_literal

from conversations import queries
from conversations.models import ChatSession, Turn
from ragsite.admin_base import ModelAdmin

_MOST_WORDS = 8
_PART_OF_UUID = re.compile(r"[0-9a-fA-F-]{4,36}")

# What a record is found by: of a word of the search, the condition.
Condition = Callable[[str], Q]


def is_part_of_uuid(word: str) -> bool:
    """Whether a request id, or a link's id, may hold a word."""
    return _PART_OF_UUID.fullmatch(word) is not None


def sessions_named(word: str) -> QuerySet[ChatSession]:
    """Return the sessions whose title, or whose owner's name, holds a word."""
    return ChatSession.objects.filter(queries.titled(word) | Q(owner__username__icontains=word))


def turns_requested(word: str) -> QuerySet[Turn]:
    """Return the turns whose request id holds a word."""
    return Turn.objects.filter(request_id__icontains=word) if is_part_of_uuid(word) else Turn.objects.none()


def messages_found(word: str, key: str = "pk") -> RawSQL:
    """Return the ids of the messages that hold a word, or those that a key of messages names, such as "turn_id"."""
    return looked_up(queries.messages_saying(word), key)


def looked_up(rows: QuerySet[Any], key: str = "pk") -> RawSQL:
    """Return the ids of rows, which are looked up here, once: a list asks several times, for its count and its page."""
    # An id that a key names many times is sent as often: a sort takes longer, and one process does it alone.
    # As text, since 100,000 numbers would be made and then written again for each time they are asked for.
    ids = rows.order_by().aggregate(ids=Cast(ArrayAgg(key), TextField()))["ids"]
    return RawSQL("SELECT unnest(%s::bigint[])", [ids or "{}"])


class WordSearch(ModelAdmin):
    """Finds what meets `found_by` for every word; its conditions are sets of ids, so that no join is read whole."""

    found_by: ClassVar[Any]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Return the records that every word finds; what stands between quotes is one."""
        with transaction.atomic(), connection.cursor() as cursor:
            # What nearly every text holds PostgreSQL would look for without the index, taking each text apart.
            cursor.execute("SET LOCAL enable_seqscan = off")
            for part in list(smart_split(search_term))[:_MOST_WORDS]:
                is_quoted = part[0] in "\"'" and part[0] == part[-1] and len(part) > 1
                queryset = queryset.filter(self.found_by(unescape_string_literal(part) if is_quoted else part))
        return queryset, False
