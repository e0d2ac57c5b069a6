"""The settings of a deployment, which are read from environment variables.

Each variable is declared once, with the name of its setting, its type, default, bounds and help. The settings page for
staff and `docs/settings.md` (`make docs`) are generated from these declarations.
"""

from pathlib import Path

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from ragsite import env
from ragsite.runtime import secret_files

BASE_DIR = Path(__file__).resolve().parent.parent
_HTTP = ("http", "https")

env.section("The site", shown=False)
DATA_DIR = env.path(
    "RAGSITE_DATA_DIR",
    BASE_DIR / ".data",
    "Folder for the database, documents and secrets; same as `--data-dir`",
    "`.data`",
)
SITE_NAME = env.text(
    "RAGSITE_SITE_NAME", "Ragsite", _("Name of the site, on its pages and in its mails"), most=40, live="site"
)
SITE_COLOUR = env.colour(
    "RAGSITE_SITE_COLOUR",
    "#4f46e5",
    _("Colour of buttons and links; it is darkened or lightened where text would be hard to read"),
    live="site",
)
DISK_RESERVE_MB = env.integer(
    "DISK_RESERVE_MB",
    300,
    (0, None),
    _(
        "Free space on the data folder's disk, in MB, that uploads and reading leave to everything else; the dashboard "
        "warns when less than four times as much is left"
    ),
)
BACKUP_DIR = env.path(
    "RAGSITE_BACKUP_DIR",
    DATA_DIR / "backups",
    "Folder for scheduled backups and those made in the administration; best on another disk",
    "`backups` in the data folder",
)
BACKUP_EVERY_HOURS = env.optional_integer(
    "BACKUP_EVERY_HOURS",
    (1, 8760),
    _("Hours between two scheduled backups of the whole site"),
    pgettext_lazy("setting", "no scheduled backups"),
    live="site",
)
BACKUP_KEEP = env.integer(
    "BACKUP_KEEP",
    7,
    (1, 1000),
    _("Scheduled and other backups to keep in their folder; older ones are deleted once a new one is complete"),
    live="site",
)
STATIC_DIR = env.path(
    "RAGSITE_STATIC_DIR",
    DATA_DIR / "static",
    "Folder for scripts and styles as served; rebuilt whenever they change",
    "`static` in the data folder",
)
DEMO_PASSWORD = env.secret(
    "RAGSITE_DEMO_PASSWORD", "Password of the user `demo`, who is created on the first start", "generated"
)
SECRET_KEY = env.secret(
    "RAGSITE_SECRET_KEY", "Key for signing sessions and encrypting stored keys", "kept in the data folder"
) or secret_files.load_or_create(DATA_DIR / "secret-key")
ALLOWED_HOSTS = env.words("RAGSITE_ALLOWED_HOSTS", ("*",), "Host names that the site serves, separated by commas")
# The base of links to share. If empty, the host of the request is used.
PUBLIC_URL = env.url(
    "RAGSITE_PUBLIC_URL",
    _HTTP,
    "Public URL of the site, such as `https://ask.example.com`; share links use it instead of the host that a request "
    "names",
)
CSRF_TRUSTED_ORIGINS = env.words(
    "RAGSITE_TRUSTED_ORIGINS", (), "Origins whose forms are accepted, such as `https://ask.example.com`"
)
BEHIND_TLS = env.boolean(
    "RAGSITE_BEHIND_TLS",
    False,
    "Set if a proxy terminates TLS: cookies are secure, and `X-Forwarded-Proto` and the last address of "
    "`X-Forwarded-For` are trusted; failed sign-ins are counted by that address",
)
CORS_ORIGINS = env.origins(
    "RAGSITE_CORS_ORIGINS",
    "Origins whose scripts can call the API with a token, such as `https://app.example.com`; `*` for any",
)
LANGUAGE_CODE = env.choice(
    "RAGSITE_LANGUAGE", "en", ("en", "zh-hans"), "Language for browsers that ask for neither: `en` or `zh-hans`"
)
TIME_ZONE = env.time_zone("RAGSITE_TIME_ZONE", "UTC", "Time zone, such as `Asia/Shanghai`")
LOG_LEVEL = env.choice(
    "RAGSITE_LOG_LEVEL",
    "INFO",
    ("DEBUG", "INFO", "WARNING", "ERROR"),
    "Log level: `DEBUG`, `INFO`, `WARNING` or `ERROR`",
)
LOG_FORMAT = env.choice(
    "RAGSITE_LOG_FORMAT",
    "line",
    ("line", "json"),
    "Log format: `line` for people or `json` for programs; both include the request ID. The log `ragsite.qa` is "
    "always JSON: one line per turn with its times, tokens and counts",
)
LOG_TEXTS = env.boolean("RAGSITE_LOG_TEXTS", False, "Include the question and the answer in that line")
DEBUG = env.boolean("RAGSITE_DEBUG", False, "Show Django's debug pages; never use on a public site")
DATABASE_URL = env.url(
    "DATABASE_URL",
    ("postgres", "postgresql"),
    "URL (`postgres://…`) of a PostgreSQL 15 or newer with pgvector 0.8 or newer",
    "embedded",
)
# Shared buffers of the embedded server. None: an eighth of the machine's memory, 128 MB to 2 GB.
POSTGRES_MEMORY_MB = env.optional_integer(
    "RAGSITE_POSTGRES_MEMORY_MB",
    (16, None),
    "Memory for cached pages of the embedded PostgreSQL, in MB",
    "an eighth of the machine's, 128 to 2048",
)
REDIS_URL = env.url(
    "REDIS_URL",
    ("redis", "rediss", "unix"),
    "URL of a Redis server, needed for more than one web process: `redis://`, `rediss://` or `unix://`",
    "in memory",
)
DATABASE_THREADS = env.integer(
    "RAGSITE_DATABASE_THREADS",
    8,
    (2, 64),
    "Database threads of a web process, each with a connection; short requests can use up to 32 more",
)

env.section(
    _("People"),
    before=(
        "People can't create accounts themselves unless `RAGSITE_SIGN_UP` is `open`. See "
        "[operate.md](operate.md#people) for e-mail and signing in through a provider."
    ),
    shown=False,
)
SIGN_UP = env.choice(
    "RAGSITE_SIGN_UP",
    "closed",
    ("closed", "open"),
    _("Who can create accounts: administrators only (`closed`) or everyone (`open`)"),
    live="site",
)
EMAIL_HOST = env.text(
    "EMAIL_HOST",
    "",
    "Mail server for sending e-mail; needs `RAGSITE_PUBLIC_URL` too, for links in e-mails",
    "none",
)
EMAIL_PORT = env.integer("EMAIL_PORT", 587, (1, 65_535), "Port of the mail server")
EMAIL_SECURITY = env.choice(
    "EMAIL_SECURITY",
    "starttls",
    ("starttls", "tls", "none"),
    "Encryption of the connection: `starttls`, `tls` (from the first byte) or `none`",
)
EMAIL_HOST_USER = env.text("EMAIL_USER", "", "Username and password for the mail server")
EMAIL_HOST_PASSWORD = env.secret("EMAIL_PASSWORD")
EMAIL_FROM = env.text("EMAIL_FROM", "", "Sender of e-mails, such as `Ragsite <ask@example.com>`", "`EMAIL_USER`")
OIDC_SERVER_URL = env.url(
    "OIDC_SERVER_URL", _HTTP, "URL of the OpenID Connect provider, without `/.well-known/openid-configuration`"
)
OIDC_CLIENT_ID = env.text("OIDC_CLIENT_ID", "", "Client ID and client secret of this site at the provider")
OIDC_CLIENT_SECRET = env.secret("OIDC_CLIENT_SECRET")
OIDC_NAME = env.text("OIDC_NAME", "", "Name of the provider on the sign-in page", "its host name")
OIDC_SIGN_UP = env.boolean(
    "OIDC_SIGN_UP",
    False,
    "Create an account for everyone who signs in through the provider; otherwise only people with an account or an "
    "invitation can sign in",
)
OIDC_LINK_BY_EMAIL = env.boolean(
    "OIDC_LINK_BY_EMAIL",
    True,
    "Match existing accounts by e-mail address if the provider says that it is verified",
)
OIDC_GROUPS_CLAIM = env.text(
    "OIDC_GROUPS_CLAIM",
    "",
    "Claim that lists a person's groups, such as `groups`; on each sign-in, their groups are set to those that exist "
    "on this site",
    "groups are managed by hand",
)
QUESTIONS_PER_DAY = env.optional_integer(
    "QUESTIONS_PER_DAY",
    (1, None),
    _("Maximum number of questions a user can ask per day, unless the user or one of their groups has its own limit"),
    pgettext_lazy("setting", "no limit"),
    live="site",
)
TOKENS_PER_MONTH = env.optional_integer(
    "TOKENS_PER_MONTH",
    (1, None),
    _(
        "Maximum number of tokens that models can read and write for a user per month, unless the user or one of "
        "their groups has its own limit"
    ),
    pgettext_lazy("setting", "no limit"),
    live="site",
)
STORAGE_MB = env.optional_integer(
    "STORAGE_MB",
    (1, None),
    _(
        "Maximum size of the documents in a user's own knowledge bases, in MB, unless the user or one of their groups "
        "has its own limit"
    ),
    pgettext_lazy("setting", "no limit"),
    live="site",
)
OWNERS_INVITE = env.boolean(
    "RAGSITE_OWNERS_INVITE",
    True,
    _("Let owners of knowledge bases invite people who don't have an account yet; administrators always can"),
    live="site",
)
AUDIT_DAYS = env.integer(
    "AUDIT_DAYS",
    365,
    (0, 36_500),
    _("Days to keep entries of the audit log; `0` keeps them forever"),
    live="site",
)

env.section(_("Documents"), shown=False)
MAX_UPLOAD_MB = env.integer("RAGSITE_MAX_UPLOAD_MB", 200, (1, None), _("Maximum file size, in MB"), live="site")
MAX_DOCUMENT_PAGES = env.integer(
    "RAGSITE_MAX_DOCUMENT_PAGES", 5000, (1, None), _("Maximum number of pages in a document"), live="site"
)
MAX_TABLE_ROWS = env.integer(
    "RAGSITE_MAX_TABLE_ROWS", 200_000, (1, None), _("Maximum number of rows in a sheet or table file"), live="site"
)
MAX_DOCUMENT_PASSAGES = env.integer(
    "RAGSITE_MAX_DOCUMENT_PASSAGES",
    50_000,
    (1, None),
    _("Maximum number of passages of a document; the rest of a longer one is left out, with a notice"),
    live="site",
)
INGEST_WORKERS = env.integer(
    "RAGSITE_INGEST_WORKERS",
    1,
    (1, 64),
    "Documents processed in parallel; each worker has one extra slot for small files",
)
INGEST_READERS = env.choice(
    "RAGSITE_INGEST_READERS",
    "auto",
    ("auto", "1", "2"),
    "Large files that a worker reads at the same time, of different people; `auto` is 2 with four cores per worker",
)
INGEST_TIMEOUT = env.integer(
    "RAGSITE_INGEST_TIMEOUT", 3600, (60, None), "Timeout for a document, including indexing, in seconds"
)
PARSE_TIMEOUT = env.integer(
    "RAGSITE_PARSE_TIMEOUT",
    900,
    (10, None),
    "Timeout for reading a file, in seconds; each is read in a separate process",
)
PARSE_MEMORY_MB = env.integer("RAGSITE_PARSE_MEMORY_MB", 3072, (256, None), "Memory limit of that process, in MB")
READ_HIDDEN = env.boolean(
    "RAGSITE_READ_HIDDEN",
    False,
    _("Read hidden sheets, rows, columns and slides too, marked as hidden; otherwise they are left out"),
    live="site",
)
OCR = env.choice(
    "RAGSITE_OCR",
    "auto",
    ("off", "auto", "always"),
    _(
        "When to recognise text in images (OCR): on pages without other text (`auto`), on every page (`always`) or "
        "never (`off`). It runs once the other text is searchable and takes a few seconds per page"
    ),
    live="site",
)
OCR_ENGINE = env.choice(
    "RAGSITE_OCR_ENGINE",
    "rapidocr",
    ("rapidocr", "tesseract"),
    "`rapidocr` (Chinese and English, with its own models) or `tesseract`, which must be installed with its languages",
)
OCR_LANGUAGES = env.words(
    "RAGSITE_OCR_LANGUAGES", ("en", "zh"), "Languages for `tesseract`; its own language codes are accepted too"
)
OCR_MAX_PAGES = env.integer(
    "RAGSITE_OCR_MAX_PAGES",
    400,
    (1, None),
    _("Maximum number of scanned pages to recognise in a document; further pages are skipped"),
    live="site",
)

env.section(_("Language model"))
LLM_BASE_URL = env.url(
    "LLM_BASE_URL",
    _HTTP,
    _("Base URL of the endpoint, up to and including `/v1`. If it is empty, answers quote the documents"),
)
LLM_API_KEY = env.secret("LLM_API_KEY", _("API key of the endpoint, sent as a bearer token"))
LLM_MODEL = env.text("LLM_MODEL", "", _("Name of the model"), _("the first one offered"))
LLM_CONTEXT_WINDOW = env.integer(
    "LLM_CONTEXT_WINDOW", 16_384, (1024, None), _("Context window of the model, in tokens")
)
LLM_MAX_TOKENS = env.integer(
    "LLM_MAX_TOKENS",
    2048,
    (16, None),
    _("Maximum length of an answer, in tokens; this much of the context window is reserved for it"),
    live="site",
)
LLM_TEMPERATURE = env.decimal(
    "LLM_TEMPERATURE",
    0.3,
    (0.0, 2.0),
    _("Temperature for answers from documents, 0 to 2; other purposes have their own"),
    live="site",
)
LLM_CONCURRENCY = env.integer(
    "LLM_CONCURRENCY",
    100,
    (0, None),
    _("Concurrent requests per server process; others wait. `0` means no limit"),
)
LLM_THINKING = env.choice(
    "LLM_THINKING",
    "",
    ("", "reasoning_effort", "enable_thinking", "thinking", "top_enable_thinking", "always"),
    _(
        "Request field that turns reasoning before an answer on or off: `reasoning_effort` (OpenAI, Ollama), "
        "`enable_thinking` (vLLM, Qwen), `thinking` (DeepSeek, GLM), `top_enable_thinking` (DashScope); or `always` if "
        "nothing does, so that the steps before an answer follow rules instead of waiting for the model"
    ),
    _("not sent"),
)
LLM_CURRENCY = env.text(
    "LLM_CURRENCY", "USD", _("Currency of the prices in model profiles, shown on the admin's dashboard")
)
LLM_CONNECT_TIMEOUT = env.decimal(
    "LLM_CONNECT_TIMEOUT", 10.0, (0.1, None), _("Timeout for connecting to the endpoint, in seconds")
)
LLM_IDLE_TIMEOUT = env.decimal(
    "LLM_IDLE_TIMEOUT", 60.0, (0.1, None), _("Timeout between two parts of an answer, in seconds")
)
LLM_TOTAL_TIMEOUT = env.decimal("LLM_TOTAL_TIMEOUT", 600.0, (1.0, None), _("Timeout for a whole answer, in seconds"))
OLLAMA_URL = env.url(
    "OLLAMA_URL",
    _HTTP,
    _("Address at which to look for a local Ollama server. It is only suggested, never used without confirmation"),
    default="http://127.0.0.1:11434",
)

env.section(_("Search"))
ANSWER_TOP_K = env.integer("ANSWER_TOP_K", 5, (1, 100), _("Number of passages used for an answer"), live="assistant")
FUSED_K = env.integer("FUSED_K", 10, (1, 1000), _("Number of hits kept after fusion"), live="assistant")
# Lists of this length are fused before they are cut to k: a hit that both retrievers rank 15th is worth finding.
RETRIEVER_TOP_K = env.integer(
    "RETRIEVER_TOP_K", 50, (1, 1000), _("Number of hits from each retriever (words, vectors) to fuse"), live="assistant"
)
# Of the values 5 to 60, 10 was best on English and Chinese sets together; smaller ones trust the first ranks more.
RRF_CONSTANT = env.integer("RRF_CONSTANT", 10, (1, None), _("Constant of reciprocal rank fusion"), live="assistant")
ENABLE_REORDER = env.boolean(
    "ENABLE_REORDER",
    True,
    _("Reorder the top hits by features such as coverage and neighbouring words"),
    live="assistant",
)
SEARCH_MODE = env.choice(
    "SEARCH_MODE",
    "hybrid",
    ("hybrid", "words", "meaning"),
    _("Search by words and by meaning (`hybrid`), or by one of them only: `words` or `meaning`"),
    live="assistant",
)
# Measured in docs/decisions/fusion.md.
VECTOR_WEIGHT = env.decimal(
    "VECTOR_WEIGHT",
    1.5,
    (0.0, 100.0),
    _("Weight of vector search relative to word search; with `0`, vectors are not searched"),
    live="assistant",
)
REORDER_TOP_N = env.integer("REORDER_TOP_N", 20, (2, 1000), _("Number of top hits to reorder"), live="assistant")
MERGE_NEIGHBOURS = env.boolean(
    "MERGE_NEIGHBOURS", True, _("Merge adjacent passages before writing an answer from them"), live="assistant"
)
BROAD_MAX_HITS_PER_DOCUMENT = env.integer(
    "BROAD_MAX_HITS_PER_DOCUMENT",
    4,
    (0, 1000),
    _("Maximum number of hits per document for overviews and comparisons; `0` means no limit"),
    live="assistant",
)
VECTOR_THRESHOLD = env.optional_decimal(
    "VECTOR_THRESHOLD",
    _(
        "Minimum semantic similarity: 0 is that of an average passage, 1 is reached by 5 in 100, and 2 to 3 by "
        "passages that answer the question"
    ),
    pgettext_lazy("setting", "off"),
    live="assistant",
)
BM25_THRESHOLD = env.optional_decimal(
    "BM25_THRESHOLD", _("Minimum BM25 score"), pgettext_lazy("setting", "off"), live="assistant"
)
SEARCH_TIMEOUT = env.decimal(
    "SEARCH_TIMEOUT",
    10.0,
    (0.1, None),
    _("Timeout for each side of a search (words or vectors), in seconds; a side that is late is left out, with a note"),
)
SEARCH_CONCURRENCY = env.integer("SEARCH_CONCURRENCY", 8, (1, 1000), _("Concurrent searches per process"))
SEARCH_QUEUE = env.integer(
    "SEARCH_QUEUE",
    64,
    (0, None),
    _("Searches that can wait for a free slot, for up to `SEARCH_TIMEOUT`; further ones get a 503 response"),
)
SEARCH_CACHE_SECONDS = env.decimal(
    "SEARCH_CACHE_SECONDS",
    300.0,
    (0.0, None),
    _("Seconds to cache a result, unless its knowledge bases change first"),
)
SEARCH_CACHE_HITS = env.integer(
    "SEARCH_CACHE_HITS", 4096, (0, None), _("Total number of hits in all cached results; `0` disables the cache")
)
EMBEDDING_MODEL = env.text(
    "EMBEDDING_MODEL", "bundled", _("`bundled`, or the name or folder of another model supported by fastembed")
)
EMBEDDING_THREADS = env.integer(
    "EMBEDDING_THREADS",
    0,
    (0, None),
    _("Number of batches that the embedding model computes in parallel"),
    _("the number of cores"),
)
EMBEDDING_PROVIDER = env.choice(
    "EMBEDDING_PROVIDER",
    "local",
    ("local", "openai"),
    _("`local`, or `openai` for any endpoint with a `/v1/embeddings` API"),
)
EMBEDDING_BASE_URL = env.url(
    "EMBEDDING_BASE_URL", _HTTP, _("Base URL of the embedding endpoint, up to and including `/v1`, and its API key")
)
EMBEDDING_API_KEY = env.secret("EMBEDDING_API_KEY")
# None: the model's own. pgvector indexes up to 4,000 numbers of two bytes.
EMBEDDING_DIMENSION = env.optional_integer(
    "EMBEDDING_DIMENSION",
    (1, 4000),
    _("Dimensions of the vectors, if the model supports a choice"),
    _("the model's own"),
)
# None: derived from the model's name. Empty ("all"): every language.
EMBEDDING_LANGUAGES = env.languages(
    "EMBEDDING_LANGUAGES",
    ("en", "zh"),
    _("Languages that the model supports: `en`, `zh`, `en,zh` or `all`"),
    _("derived from the model's name"),
)
EMBEDDING_TIMEOUT = env.decimal(
    "EMBEDDING_TIMEOUT", 60.0, (0.1, None), _("Timeout for a batch sent to the endpoint, in seconds")
)
EMBEDDING_MODEL_MAX_MB = env.integer(
    "EMBEDDING_MODEL_MAX_MB", 4096, (1, None), _("Maximum size of an embedding model to download or upload, in MB")
)
# The HNSW graph: links per node, and candidates when building it (both apply to new spaces) and when searching it; and
# the maximum number of rows that a filtered search visits.
HNSW_M = env.integer("HNSW_M", 16, (4, 100), _("Parameters for building the vector index"))
HNSW_EF_CONSTRUCTION = env.integer("HNSW_EF_CONSTRUCTION", 128, (8, 1000))
HNSW_EF_SEARCH = env.integer("HNSW_EF_SEARCH", 150, (10, 1000), _("Parameters for searching the vector index"))
HNSW_MAX_SCAN_TUPLES = env.integer("HNSW_MAX_SCAN_TUPLES", 40_000, (1000, None))
# `maintenance_work_mem` while building the graph of a new space; building a larger graph takes many times as long.
HNSW_BUILD_MEMORY_MB = env.integer(
    "HNSW_BUILD_MEMORY_MB", 1024, (64, None), _("Memory for building a new model's vector index, in MB")
)

env.section(
    _("Reader"),
    before=(
        "A small model in the server process reads the top passages together with the question: it ranks them and "
        "reports whether they answer it, and where. It is skipped, with a note, if it would take too long or the "
        "processor is busy with other readings, and for messages that ask nothing."
    ),
    after=(
        "The folder of a cross-encoder can contain a `calibration.json`: "
        '`{"reader": {"answers": [slope, intercept], "blend": weight}}` turns its score into the log odds that a '
        "passage answers the question, and weights it against the score from the search."
    ),
)
ENABLE_READER = env.boolean(
    "ENABLE_READER", True, _("Read the top passages together with the question"), live="assistant"
)
READER_MODEL = env.text(
    "READER_MODEL",
    "bundled",
    _("`bundled`, the folder or name of another cross-encoder, or `off` to save memory"),
)
READER_PASSAGES = env.integer("READER_PASSAGES", 15, (1, 100), _("Number of top passages to read"), live="assistant")
READER_TIMEOUT = env.decimal(
    "READER_TIMEOUT", 2.0, (0.05, None), _("Timeout for reading them, in seconds"), live="site"
)

env.section(
    _("Reranking"),
    before=(
        "A model can rerank the top hits before an answer is written if `ENABLE_RERANK` is true. If it fails, the "
        "order is kept and the trace says why; a model that doesn't respond isn't called again for 30 seconds."
    ),
    after=(
        "An enabled model profile for reranking in the admin overrides `RERANK_BASE_URL`. With `RERANK_METHOD=llm`, "
        "it names a chat model; without a profile, the `LLM_*` settings are used."
    ),
)
ENABLE_RERANK = env.boolean("ENABLE_RERANK", False, _("Rerank the top hits with a model"), live="assistant")
RERANK_METHOD = env.choice(
    "RERANK_METHOD",
    "endpoint",
    ("endpoint", "local", "llm", "blend"),
    _("How to rerank: `endpoint`, `local` (a cross-encoder in this process), `llm` (the chat model) or `blend`"),
    live="assistant",
)
RERANK_BASE_URL = env.url(
    "RERANK_BASE_URL",
    _HTTP,
    _("URL of the reranking endpoint, its API key and its model; a URL ending in `/rerank` is used unchanged"),
)
RERANK_API_KEY = env.secret("RERANK_API_KEY")
RERANK_MODEL = env.text("RERANK_MODEL")
RERANK_STYLE = env.choice(
    "RERANK_STYLE",
    "auto",
    ("auto", "jina", "cohere", "tei"),
    _("API style of the endpoint: `auto` to detect it, `jina` (also vLLM, llama.cpp, Xinference …), `cohere` or `tei`"),
)
RERANK_LOCAL_MODEL = env.text(
    "RERANK_LOCAL_MODEL",
    "Xenova/ms-marco-MiniLM-L-6-v2",
    _("Cross-encoder for `local`: a model name known to fastembed, downloaded once, or a folder"),
)
RERANK_BLEND = env.weights(
    "RERANK_BLEND",
    {"fused": 0.3, "endpoint": 0.7},
    ("fused", "endpoint", "local", "llm"),
    _("Weights for `blend`: `fused`, `endpoint`, `local` and `llm`"),
    live="assistant",
)
RERANKER_INPUT_TOP_N = env.integer(
    "RERANKER_INPUT_TOP_N", 20, (1, 1000), _("Number of top hits to rerank"), live="assistant"
)
RERANK_SCORE_THRESHOLD = env.decimal(
    "RERANK_SCORE_THRESHOLD",
    0.2,
    (0.0, 1.0),
    _("Minimum reranking score, 0 to 1; if no hit reaches it, nothing is considered found"),
    live="assistant",
)
RERANK_KEEP_BEST = env.boolean(
    "RERANK_KEEP_BEST", False, _("Keep the best hits if none reaches the minimum score"), live="assistant"
)
RERANK_TOP_K = env.integer("RERANK_TOP_K", 5, (1, 1000), _("Number of hits kept for an answer"), live="assistant")
# Few rerankers read more than 512 tokens of a query and a passage together.
RERANK_MAX_TOKENS = env.integer(
    "RERANK_MAX_TOKENS", 512, (32, 32_768), _("Maximum combined length of a question and a passage, in tokens")
)
RERANK_TIMEOUT = env.decimal("RERANK_TIMEOUT", 10.0, (0.1, None), _("Timeout for reranking, in seconds"), live="site")

env.section(
    _("Conversation"),
    after=(
        "A model that doesn't respond within these timeouts isn't called again for a minute; rules decide meanwhile, "
        "and the trace of each answer says what decided and why. A model that uses up its tokens on reasoning gets a "
        "larger limit from then on."
    ),
)
MAX_RECENT_TURNS = env.integer(
    "MAX_RECENT_TURNS", 5, (0, 100), _("Number of recent turns to include with a question"), live="assistant"
)
MAX_RELEVANT_TURNS = env.integer(
    "MAX_RELEVANT_TURNS",
    2,
    (0, 20),
    _("Number of similar earlier turns to include besides the recent ones; `0` for none"),
    live="assistant",
)
RELEVANT_TURNS_FROM = env.choice(
    "RELEVANT_TURNS_FROM",
    "session",
    ("session", "branch"),
    _("Where such turns are searched: in all branches of the chat (`session`), or in the current one (`branch`)"),
    live="assistant",
)
# All of 64 pairs of paraphrased questions score higher, and about 5 % of unrelated ones: docs/decisions/followups.md.
RELEVANT_TURN_FLOOR = env.decimal(
    "RELEVANT_TURN_FLOOR",
    1.4,
    (0.0, 10.0),
    _("Minimum similarity of such a turn to the question; `0` always takes the nearest"),
    live="assistant",
)
MEMORY_MAX_FACTS = env.integer(
    "MEMORY_MAX_FACTS", 50, (1, 1000), _("Maximum number of remembered facts per user, and characters per fact")
)
MEMORY_FACT_CHARACTERS = env.integer("MEMORY_FACT_CHARACTERS", 300, (20, 4000))
MAX_QUESTION_CHARACTERS = env.integer(
    "MAX_QUESTION_CHARACTERS", 8000, (10, None), _("Maximum length of a question, in characters")
)
ANSWER_MODE = env.choice(
    "ANSWER_MODE",
    "general",
    ("documents", "general", "chat"),
    _(
        "Where answers come from: `documents` only; `general`, documents and then general knowledge if the knowledge "
        "bases allow it; or `chat`, the model only"
    ),
    live="assistant",
)
ANSWER_LENGTH = env.choice(
    "ANSWER_LENGTH",
    "normal",
    ("short", "normal", "detailed"),
    _("Length of answers, including quoted ones: `short`, `normal` or `detailed`"),
    live="assistant",
)
ANSWER_LANGUAGE = env.choice(
    "ANSWER_LANGUAGE",
    "question",
    ("question", "en", "zh"),
    _("Language of answers: that of the `question`, or always `en` or `zh`"),
    live="assistant",
)
ENABLE_MEMORY = env.boolean(
    "ENABLE_MEMORY",
    True,
    _("Let users save facts for answers in later chats to take into account"),
    live="assistant",
)
ANSWER_DIALECT = env.choice(
    "ANSWER_DIALECT",
    "markdown",
    ("markdown", "json"),
    _("Format the model is asked to write: `markdown`, or `json` for block events; both are accepted"),
    live="assistant",
)
CITATION_VERIFIER = env.text(
    "CITATION_VERIFIER",
    "conversations.citations.verifiers.reader.Reader",
    _(
        "Class that checks the citations of a complete answer: rules and the reader, `….rules.Rules`, "
        "`….entailment.Entailment`, `….judge.Judge` (the chat model) or your own"
    ),
)
CITATION_ENTAILMENT_MODEL = env.text(
    "CITATION_ENTAILMENT_MODEL", "", _("Name or folder of the cross-encoder for entailment")
)
CITATION_ENTAILMENT_THRESHOLD = env.decimal(
    "CITATION_ENTAILMENT_THRESHOLD", 0.5, (0.0, 1.0), _("Minimum probability of its verdict, 0 to 1")
)
CITATION_MODEL_CLAIMS = env.integer(
    "CITATION_MODEL_CLAIMS",
    20,
    (1, 200),
    _("Maximum number of sentences per answer that a model checks; rules check the others"),
    live="site",
)
CITATION_MODEL_TIMEOUT = env.decimal(
    "CITATION_MODEL_TIMEOUT",
    10.0,
    (0.1, 20.0),
    _("Timeout for checking citations with a model, in seconds; after it, the rules' verdicts are used"),
    live="site",
)
ENABLE_SOURCE_CITATION = env.boolean(
    "ENABLE_SOURCE_CITATION",
    True,
    _(
        "Have the model cite its sources as `[n]`. If this is off, sources are only listed below an answer, which "
        "isn't checked and shows no images"
    ),
    live="assistant",
)
MAX_CONCURRENT_TURNS = env.integer("MAX_CONCURRENT_TURNS", 4, (1, None), _("Concurrent answers per user"), live="site")
API_REQUESTS_PER_MINUTE = env.integer(
    "API_REQUESTS_PER_MINUTE",
    1200,
    (0, None),
    _("API requests per minute and user, counted per process, or across processes with Redis; `0` means no limit"),
)
CONVERSATION_EXPIRE_DAYS = env.optional_integer(
    "CONVERSATION_EXPIRE_DAYS",
    (0, 36_500),
    _("Days after which turns are deleted, except in pinned chats"),
    pgettext_lazy("setting", "never"),
    live="site",
)
PURGE_AFTER_DAYS = env.integer("PURGE_AFTER_DAYS", 30, (1, 36_500), _("Days to keep deleted chats"), live="site")
TRACE_EXPIRE_DAYS = env.optional_integer(
    "TRACE_EXPIRE_DAYS",
    (0, 36_500),
    _("Days after which the trace of a turn is deleted, including the messages sent to the model"),
    pgettext_lazy("setting", "never"),
    live="site",
)
ENABLE_UNDERSTANDING = env.boolean(
    "ENABLE_UNDERSTANDING",
    True,
    _("Ask the model to interpret each question; rules decide if this is off, fails or the model is unsure"),
    live="assistant",
)
UNDERSTAND_TIMEOUT = env.decimal(
    "UNDERSTAND_TIMEOUT", 12.0, (0.1, None), _("Timeout for interpreting a question, in seconds"), live="site"
)
ENABLE_QUERY_REWRITE = env.boolean(
    "ENABLE_QUERY_REWRITE",
    True,
    _("Have the model rewrite follow-up questions so that they can be searched on their own"),
    live="assistant",
)
REWRITE_TIMEOUT = env.decimal(
    "REWRITE_TIMEOUT", 8.0, (0.1, None), _("Timeout for rewriting a question, in seconds"), live="site"
)
READ_MAX_DOCUMENTS = env.integer(
    "READ_MAX_DOCUMENTS",
    5,
    (1, 50),
    _("Maximum number of documents to read in full for one question, such as for a summary"),
    live="assistant",
)
READ_MAX_TOKENS = env.integer(
    "READ_MAX_TOKENS",
    400_000,
    (1000, None),
    _("Maximum number of tokens to read from them; only the headings of the rest are used"),
    live="assistant",
)
READ_CONCURRENCY = env.integer(
    "READ_CONCURRENCY", 4, (1, 64), _("Parts of them that a model reads in parallel"), live="site"
)
READ_PART_TIMEOUT = env.decimal(
    "READ_PART_TIMEOUT",
    120.0,
    (0.1, None),
    _("Timeout for reading one part, in seconds; it is retried once"),
    live="site",
)
READ_TIMEOUT = env.decimal(
    "READ_TIMEOUT",
    900.0,
    (0.1, None),
    _("Timeout for reading all parts, in seconds; the answer names the parts that weren't read"),
    live="site",
)
FILE_WAIT_SECONDS = env.decimal(
    "FILE_WAIT_SECONDS",
    90.0,
    (0, 900),
    _(
        "Seconds that a question waits for the chat's files to be processed; after that, it is answered without them, "
        "with a note"
    ),
    live="site",
)
THOROUGH_ROUNDS = env.integer(
    "THOROUGH_ROUNDS",
    2,
    (1, 4),
    _("Search rounds of a thorough pipeline; each round after the first searches for what is still missing"),
    live="assistant",
)
THOROUGH_TIMEOUT = env.decimal(
    "THOROUGH_TIMEOUT",
    30.0,
    (0.1, None),
    _("Timeout for all rounds, in seconds; what was found by then is used"),
    live="assistant",
)
THOROUGH_TOKENS = env.integer(
    "THOROUGH_TOKENS",
    3000,
    (200, 100_000),
    _("Tokens of passages that the model sees when asked what is missing"),
    live="assistant",
)
# Log odds above which passages count as found and as an answer (see `relevance_gate`), relative to the calibrated
# thresholds; -100 accepts every passage.
RELEVANCE_THRESHOLD = env.decimal(
    "RELEVANCE_THRESHOLD",
    0.0,
    (-100.0, 100.0),
    _(
        "How relevant passages must be to be considered found: `0` is the calibrated threshold, higher is stricter, "
        "`-100` is off"
    ),
    live="assistant",
)
ANSWER_THRESHOLD = env.decimal(
    "ANSWER_THRESHOLD",
    0.0,
    (-100.0, 100.0),
    _(
        "How clearly passages must answer a question; below this, they are labelled as only the closest. `0` is the "
        "calibrated threshold, higher is stricter, `-100` is off"
    ),
    live="assistant",
)
ENABLE_FILTER = env.boolean(
    "ENABLE_FILTER",
    False,
    _("Have the model judge whether each hit answers the question, and drop those that don't"),
    live="assistant",
)
FILTER_INPUT_TOP_N = env.integer(
    "FILTER_INPUT_TOP_N", 10, (1, 100), _("Number of hits to judge, and how many in parallel"), live="assistant"
)
FILTER_CONCURRENCY = env.integer("FILTER_CONCURRENCY", 4, (1, 64), live="site")
FILTER_TIMEOUT = env.decimal(
    "FILTER_TIMEOUT",
    20.0,
    (0.1, None),
    _("Timeout for judging all hits, in seconds; hits that weren't judged are kept"),
    live="site",
)
