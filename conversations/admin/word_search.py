"""Searching records in the admin by the words of messages, using the index instead of scanning texts.

Only the newest matches are listed, since a list runs several queries (for its count, its page and its dates), each of
which goes through all matches.
"""

import re
from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import messages
from django.core.exceptions import EmptyResultSet
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL
from django.http import HttpRequest
from django.utils.text import smart_split, unescape_string_literal
from django.utils.translation import gettext as _

from conversations import queries
from conversations.models import ChatSession, Turn
from ragsite.admin_base import ModelAdmin

# Maximum number of records that a search lists.
MOST_FOUND = 10_000
_MOST_WORDS = 8
_PART_OF_UUID = re.compile(r"[0-9a-fA-F-]{4,36}")

# Returns the condition for a word of the search.
Condition = Callable[[str], Q]


def is_part_of_uuid(word: str) -> bool:
    """Return whether a request id or a link's id can contain a word."""
    return _PART_OF_UUID.fullmatch(word) is not None


def sessions_named(word: str) -> QuerySet[ChatSession]:
    """Return the sessions whose title or owner's name contains a word."""
    return ChatSession.objects.filter(queries.titled(word) | Q(owner__username__icontains=word))


def turns_requested(word: str) -> QuerySet[Turn]:
    """Return the turns whose request id contains a word."""
    return Turn.objects.filter(request_id__icontains=word) if is_part_of_uuid(word) else Turn.objects.none()


def messages_found(word: str, key: str = "pk") -> RawSQL:
    """Return the ids of the messages that contain a word, or their values of another key, such as "turn_id"."""
    return looked_up(queries.messages_saying(word), key)


def looked_up(rows: QuerySet[Any], key: str = "pk") -> RawSQL:
    """Return a subquery of ids that is evaluated once, by its index, and not per row of the outer query."""
    try:
        sql, parameters = rows.order_by().values(key).query.sql_with_params()
    except EmptyResultSet:  # for texts without words
        return RawSQL("SELECT NULL::bigint WHERE false", [])
    return RawSQL(f"WITH found AS MATERIALIZED ({sql}) SELECT * FROM found", parameters)


class WordSearch(ModelAdmin):
    """Search for records that meet `found_by` for every word; conditions are sets of ids, which avoids large joins.

    `newest_first` is the field to order by, newest first.
    """

    found_by: ClassVar[Any]
    newest_first = "-pk"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Return the newest records that match every word; a quoted phrase counts as one word."""
        conditions = []
        for part in list(smart_split(search_term))[:_MOST_WORDS]:
            is_quoted = part[0] in "\"'" and part[0] == part[-1] and len(part) > 1
            conditions.append(self.found_by(unescape_string_literal(part) if is_quoted else part))
        if not conditions:
            return queryset, False
        newest = queryset.filter(*conditions).order_by(self.newest_first).values_list("pk", flat=True)
        with transaction.atomic(), connection.cursor() as cursor:
            # For words in nearly every text, PostgreSQL would skip the index and parse each text.
            cursor.execute("SET LOCAL enable_seqscan = off")
            found = list(newest[: MOST_FOUND + 1])
        if len(found) > MOST_FOUND:
            found.pop()
            message = _("More than %(count)s records match. The newest %(count)s are listed: add a word or a filter.")
            messages.info(request, message % {"count": f"{MOST_FOUND:,}"})
        kind = queryset.model._meta.pk.db_type(connection)
        return queryset.filter(pk__in=RawSQL(f"SELECT unnest(%s::{kind}[])", [found])), False
