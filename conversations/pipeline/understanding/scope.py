"""What a turn may be answered from: the knowledge bases of its session, and what they hold of its words."""

from collections.abc import Sequence
from dataclasses import replace

from django.contrib.auth.models import User
from django.db.models import Exists, Q

from conversations.models import ChatSession
from conversations.pipeline.state import State
from conversations.pipeline.understanding.carry_over import Known
from conversations.pipeline.understanding.keywords import content_terms
from conversations.pipeline.understanding.rules import context_probe_query, spoken_of
from knowledge import access
from knowledge.queries import languages_of
from retrieval.engine import fulltext
from retrieval.engine.fulltext import Frequencies
from retrieval.ranking.cooccurrence import held_together
from retrieval.ranking.retrievers import in_database_within_timeout


async def known_words(state: State) -> Known:
    """Return what may be searched holds of the words of a later question and of those before it, and its languages.

    Raises `SearchFailed` when the database doesn't answer.
    """
    request, earlier = state.request, spoken_of(state.past.conversation)
    return await in_database_within_timeout(_of_session, request.user_id, request.session_id, request.question, earlier)


def look_up(question: str, earlier: Sequence[str], knowledge_base_ids: Sequence[int]) -> Known:
    """Return what knowledge bases hold of the words of a question and of those before it (oldest first).

    Of a question that nothing came before no words are looked up: what tells of them is what they lack.
    """
    if not earlier:
        return Known(Frequencies(0, {}))
    wanted = {term for text in (question, *earlier) for term in content_terms(text)}
    frequencies = fulltext.frequencies(wanted, knowledge_base_ids)
    text = context_probe_query(question, earlier, frequencies)
    return Known(frequencies, held_together(text, frequencies) if text else ())


def searchable(user_id: int, session_id: int) -> tuple[tuple[int, ...], bool]:
    """Return the bases to search, and whether all of them allow general knowledge.

    The session's choice is narrowed to what its user may read now; no choice means everything readable.
    """
    chosen = ChatSession.knowledge_bases.through.objects.filter(chatsession_id=session_id)
    bases = access.readable(User(pk=user_id)).filter(
        Exists(User.objects.filter(pk=user_id, is_active=True)),
        ~Exists(chosen) | Q(pk__in=chosen.values("knowledgebase_id")),
    )
    rows = list(bases.values_list("pk", "answer_from_general_knowledge"))
    return tuple(pk for pk, _allowed in rows), all(allowed for _pk, allowed in rows)


def _of_session(user_id: int, session_id: int, question: str, earlier: Sequence[str]) -> Known:
    ids, _general = searchable(user_id, session_id)
    return replace(look_up(question, earlier, ids), languages=frozenset(languages_of(ids)))
