"""What a turn may be answered from: the knowledge bases of its session, and how rare its words are in them."""

from django.contrib.auth import get_user_model

from conversations.models import ChatSession
from conversations.pipeline.salience import content_terms
from conversations.pipeline.state import State
from knowledge import access
from retrieval import fulltext
from retrieval.fulltext import Frequencies
from retrieval.sides import asked


async def word_frequencies(state: State) -> Frequencies:
    """Return how frequent the words of a later question, and of those before it, are in what may be searched.

    Raises `SearchFailed` when the database doesn't answer.
    """
    texts = [turn.question for turn in state.history]
    if not texts:
        return Frequencies(0, {})
    wanted = {term for text in (state.question, *texts) for term in content_terms(text)}
    return await asked(_frequencies, state.user_id, state.session_id, wanted)


def searchable(user_id: int, session_id: int) -> tuple[tuple[int, ...], bool]:
    """Return the bases to search, and whether all of them allow general knowledge.

    The session's choice is narrowed to what its user may read now; no choice means everything readable.
    """
    bases = access.readable(get_user_model().objects.get(pk=user_id))
    of_session = ChatSession.knowledge_bases.through.objects.filter(chatsession_id=session_id)
    chosen = set(of_session.values_list("knowledgebase_id", flat=True))
    found = bases.values_list("pk", "answer_from_general_knowledge")
    rows = [row for row in found if not chosen or row[0] in chosen]
    return tuple(pk for pk, _allowed in rows), all(allowed for _pk, allowed in rows)


def _frequencies(user_id: int, session_id: int, wanted: set[str]) -> Frequencies:
    return fulltext.frequencies(wanted, searchable(user_id, session_id)[0])
