"""What the environment sets of the pipeline and the search, for the page that shows it to staff.

The sections, rows and words are those of the README's tables; a test holds them together.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from ragsite import env

Words = str | Promise


@dataclass(frozen=True, slots=True)
class Cell:
    """A setting as it is shown: its value now and its default, as the environment would have them written."""

    name: str
    value: str
    default: str

    @property
    def changed(self) -> bool:
        """Whether something else than the default is in force."""
        return self.value != self.default


# Variables that belong together, and what they do; the settings have the same names.
SECTIONS: dict[Words, dict[str, Words]] = {
    _("Language model"): {
        "LLM_BASE_URL": _("address of the endpoint, up to and including `/v1`; unset, answers are quoted"),
        "LLM_API_KEY": _("the endpoint's key, sent as a bearer token"),
        "LLM_MODEL": _("the model's name"),
        "LLM_CONTEXT_WINDOW": _("tokens the model reads"),
        "LLM_MAX_TOKENS": _("tokens kept free for the answer"),
        "LLM_TEMPERATURE": _("0 to 2, of answers from documents; other purposes have their own"),
        "LLM_CONCURRENCY": _("requests at once of a server process; more wait their turn, `0` is any number"),
        "LLM_CONNECT_TIMEOUT": _("seconds to connect"),
        "LLM_IDLE_TIMEOUT": _("seconds between two pieces of an answer"),
        "LLM_TOTAL_TIMEOUT": _("seconds for a whole answer"),
        "OLLAMA_URL": _("where a local Ollama is looked for, to offer it; never used unasked"),
    },
    _("Search"): {
        "DEFAULT_TOP_K": _("passages that reach the answer"),
        "FUSED_K": _("hits kept after fusion"),
        "FUSION_DEPTH": _("hits of each side that are fused"),
        "RRF_CONSTANT": _("the constant of reciprocal rank fusion"),
        "VECTOR_WEIGHT": _("weight of the vector side against the word side"),
        "ENABLE_REORDER": _("put the first hits in order by features such as coverage and neighbouring words"),
        "REORDER_TOP_N": _("how many first hits are put in order so"),
        "MERGE_NEIGHBOURS": _("join adjacent passages before an answer is written from them"),
        "BROAD_PER_DOCUMENT": _("most hits of one document for overviews and comparisons; `0` is any number"),
        "VECTOR_THRESHOLD": _("least cosine similarity"),
        "BM25_THRESHOLD": _("least BM25 score"),
        "SEARCH_TIMEOUT": _("seconds for a side of a search, words or meaning; a late side is left out, with a note"),
        "SEARCH_CONCURRENCY": _("searches at once in a process"),
        "SEARCH_QUEUE": _("searches that may wait for a place, up to `SEARCH_TIMEOUT`; more are answered 503"),
        "SEARCH_CACHE_SECONDS": _("how long a result is kept, unless its knowledge bases change before"),
        "SEARCH_CACHE_HITS": _("hits that kept results hold together; `0` keeps none"),
        "EMBEDDING_MODEL": _("`bundled`, or the name or folder of another model that fastembed runs"),
        "EMBEDDING_THREADS": _("batches that the embedding model computes side by side"),
        "EMBEDDING_PROVIDER": _("`local`, or `openai`: any endpoint that speaks `/v1/embeddings`"),
        "EMBEDDING_BASE_URL EMBEDDING_API_KEY": _("that endpoint, up to and including `/v1`, and its key"),
        "EMBEDDING_DIMENSION": _("numbers in a vector, where the model lets one choose"),
        "EMBEDDING_LANGUAGES": _("`en`, `zh`, `en,zh` or `all`: what the model understands"),
        "EMBEDDING_TIMEOUT": _("seconds for a batch that is sent to an endpoint"),
        "HNSW_M HNSW_EF_CONSTRUCTION": _("how the vector index is built"),
        "HNSW_EF_SEARCH HNSW_MAX_SCAN_TUPLES": _("how far the vector index is searched"),
        "HNSW_BUILD_MEMORY_MB": _("memory for building the index of a new model"),
    },
    _("Reranking"): {
        "ENABLE_RERANK": _("have a model judge the first hits"),
        "RERANK_METHOD": _("`endpoint`, `local` (a cross-encoder in this process), `llm` (the chat model) or `blend`"),
        "RERANK_BASE_URL RERANK_API_KEY RERANK_MODEL": _(
            "the endpoint, its key and its model; an address that ends in `/rerank` is taken as it is"
        ),
        "RERANK_STYLE": _(
            "how the endpoint is spoken to: `auto` finds out, or `jina` (also vLLM, llama.cpp, Xinference …), "
            "`cohere` or `tei`"
        ),
        "RERANK_LOCAL_MODEL": _("the cross-encoder: a name that fastembed knows, fetched once, or a folder"),
        "RERANK_BLEND": _("what a blend weighs: `fused`, `endpoint`, `local`, `llm`"),
        "RERANKER_INPUT_TOP_N": _("first hits that are judged"),
        "RERANK_SCORE_THRESHOLD": _("least score, 0 to 1; where no hit reaches it, nothing was found"),
        "RERANK_KEEP_BEST": _("keep the best hits where none reaches that score"),
        "RERANK_TOP_K": _("hits that stay for an answer"),
        "RERANK_MAX_TOKENS": _("tokens read of question and passage together"),
        "RERANK_TIMEOUT": _("seconds for a reranking"),
    },
    _("Conversation"): {
        "MAX_RECENT_TURNS": _("earlier turns that a question is read with"),
        "MAX_RELEVANT_TURNS": _("turns before those that are like the question, and are read with it; `0` is none"),
        "RELEVANT_TURN_FLOOR": _("least similarity of such a turn to the question; `0` takes the nearest"),
        "MEMORY_MAX_FACTS MEMORY_FACT_CHARACTERS": _("facts that a person may have remembered, and characters of each"),
        "MAX_QUESTION_CHARACTERS": _("characters of the longest question"),
        "ANSWER_DIALECT": _("how a model is asked to write: `markdown`, or `json` for block events; either is read"),
        "ENABLE_SOURCE_CITATION": _(
            "have the model cite its sources as `[n]`; off, they are only listed below its answer, "
            "which is not checked and shows no pictures"
        ),
        "MAX_CONCURRENT_TURNS": _("answers at once, per user"),
        "API_REQUESTS_PER_MINUTE": _(
            "requests to the API, per user (counted by each process, or together with Redis); `0` is any number"
        ),
        "CONVERSATION_EXPIRE_DAYS": _("days after which turns are removed, those of pinned chats apart"),
        "PURGE_AFTER_DAYS": _("days for which a deleted chat is kept"),
        "TRACE_EXPIRE_DAYS": _(
            "days after which the trace of a turn is removed, with the messages that a model was sent"
        ),
        "ENABLE_UNDERSTANDING": _(
            "ask the model what a question wants; rules decide where it is off, fails or is unsure"
        ),
        "UNDERSTAND_TIMEOUT": _("seconds for asking it"),
        "ENABLE_QUERY_REWRITE": _("have the model rewrite, for the search, a question that leans on the conversation"),
        "REWRITE_TIMEOUT": _("seconds for rewriting a question"),
        "RELEVANCE_THRESHOLD": _(
            "how clearly passages must speak of the question to count as found; `0` is as measured, more is stricter, "
            "`-100` is off"
        ),
        "ANSWER_THRESHOLD": _("how clearly they must answer it not to be called the closest ones; likewise"),
        "ENABLE_FILTER": _("have the model judge each hit for whether it answers, and drop those that don't"),
        "FILTER_INPUT_TOP_N FILTER_CONCURRENCY": _("hits that are judged, and how many at once"),
        "FILTER_TIMEOUT": _("seconds for judging all of them; what was not judged stays"),
    },
}

# What is taken where a variable is not set and its default is no value that could be written down.
UNSET: dict[str, Words] = {
    "LLM_MODEL": _("first offered"),
    "VECTOR_THRESHOLD": pgettext_lazy("setting", "off"),
    "BM25_THRESHOLD": pgettext_lazy("setting", "off"),
    "EMBEDDING_THREADS": _("as many as cores"),
    "EMBEDDING_DIMENSION": _("the model's own"),
    "EMBEDDING_LANGUAGES": _("by the model's name"),
    "CONVERSATION_EXPIRE_DAYS": pgettext_lazy("setting", "never"),
    "TRACE_EXPIRE_DAYS": pgettext_lazy("setting", "never"),
}


def cells(names: str) -> Iterator[Cell]:
    """Yield the settings of a row, by its key in `SECTIONS`; of a secret only whether there is one."""
    for name in names.split():
        yield Cell(name, _shown(name, getattr(settings, name)), _shown(name, env.defaults[name]))


def _shown(name: str, value: object) -> str:
    if name.endswith("_KEY"):
        return gettext("set") if value else gettext("not set")
    if value in (None, "") or (name in UNSET and value == env.defaults[name]):
        return str(UNSET.get(name) or gettext("not set"))
    return address(str(value)) if name.endswith("_URL") else written(value)


def written(value: object) -> str:
    """Return a value as a variable holds it; languages are none where all are meant."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ",".join(f"{name}:{weight:g}" for name, weight in value.items())
    if isinstance(value, tuple):
        return ",".join(value) or "all"
    return f"{value:g}" if isinstance(value, float) else str(value)


def address(url: str) -> str:
    """Return a URL without what may be secret: a name and password before the host, and the query."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
