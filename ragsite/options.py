"""What a deployment sets: the table of environment variables.

An entry declares a variable once: the setting that it becomes, its kind (the reader), default and bounds, and what it
does. The settings are these; the staff's page and `docs/settings.md` are made from it (`make docs`).
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
    "RAGSITE_DATA_DIR", BASE_DIR / ".data", "database, documents and secrets; the same as `--data-dir`", "`.data`"
)
STATIC_DIR = env.path(
    "RAGSITE_STATIC_DIR",
    DATA_DIR / "static",
    "scripts and styles as served, made anew whenever they change",
    "`static` in the data folder",
)
DEMO_PASSWORD = env.secret("RAGSITE_DEMO_PASSWORD", "password of `demo`, made on the first start", "generated")
SECRET_KEY = env.secret(
    "RAGSITE_SECRET_KEY", "signs sessions, encrypts stored keys", "kept in the data folder"
) or secret_files.load_or_create(DATA_DIR / "secret-key")
ALLOWED_HOSTS = env.words("RAGSITE_ALLOWED_HOSTS", ("*",), "host names served, separated by commas")
# Where people reach the site; links to pass on are made of it. Empty takes what a request was sent to.
PUBLIC_URL = env.url(
    "RAGSITE_PUBLIC_URL",
    _HTTP,
    "where people reach the site, as `https://ask.example.com`; share links are made of it instead of "
    "what a request claims",
)
CSRF_TRUSTED_ORIGINS = env.words(
    "RAGSITE_TRUSTED_ORIGINS", (), "origins whose forms are accepted, as `https://ask.example.com`"
)
BEHIND_TLS = env.boolean(
    "RAGSITE_BEHIND_TLS",
    False,
    "a proxy speaks TLS: secure cookies; its `X-Forwarded-Proto` is believed, and of its "
    "`X-Forwarded-For` the last address, by which wrong passwords are counted",
)
CORS_ORIGINS = env.origins(
    "RAGSITE_CORS_ORIGINS", "sites whose scripts may ask the API with a token, as `https://app.example.com`; `*` is any"
)
LANGUAGE_CODE = env.choice(
    "RAGSITE_LANGUAGE", "en", ("en", "zh-hans"), "language where the browser names none of ours: `en` or `zh-hans`"
)
TIME_ZONE = env.time_zone("RAGSITE_TIME_ZONE", "UTC", "such as `Asia/Shanghai`")
LOG_LEVEL = env.choice(
    "RAGSITE_LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"), "`DEBUG`, `INFO`, `WARNING` or `ERROR`"
)
LOG_FORMAT = env.choice(
    "RAGSITE_LOG_FORMAT",
    "line",
    ("line", "json"),
    "`line` for people, `json` for programs; both name the request that a record belongs to. The log "
    "`ragsite.qa` is JSON always: one line per turn with its times, tokens and counts",
)
LOG_TEXTS = env.boolean("RAGSITE_LOG_TEXTS", False, "whether that line also holds the question and the answer")
DEBUG = env.boolean("RAGSITE_DEBUG", False, "Django's error pages; never where strangers come")
DATABASE_URL = env.url(
    "DATABASE_URL",
    ("postgres", "postgresql"),
    "`postgres://…` to a PostgreSQL 15 or newer with pgvector 0.8 or newer",
    "embedded",
)
# Of the machine's memory, for pages that the embedded server keeps; None takes an eighth, of 128 MB to 2 GB.
POSTGRES_MEMORY_MB = env.optional_integer(
    "RAGSITE_POSTGRES_MEMORY_MB",
    (16, None),
    "pages that the embedded PostgreSQL keeps in memory",
    "an eighth of the machine's, 128 to 2048",
)
REDIS_URL = env.url(
    "REDIS_URL",
    ("redis", "rediss", "unix"),
    "for more than one web process; `redis://`, `rediss://` or `unix://`",
    "in memory",
)
DATABASE_THREADS = env.integer(
    "RAGSITE_DATABASE_THREADS",
    8,
    (2, 64),
    "database threads of a web process, each with a connection; requests that are answered at once have up to 32 more",
)

env.section(
    _("People"),
    before=(
        "Nobody makes an account by themselves unless `RAGSITE_SIGN_UP` is `open`; [operate.md](operate.md#people) "
        "tells of mail and signing in through a provider."
    ),
    shown=False,
)
SIGN_UP = env.choice(
    "RAGSITE_SIGN_UP",
    "closed",
    ("closed", "open"),
    _("who may create accounts: administrators only (`closed`), or everyone (`open`)"),
    live="site",
)
EMAIL_HOST = env.text(
    "EMAIL_HOST",
    "",
    "server that mail is sent by; takes `RAGSITE_PUBLIC_URL` too, of which links in mail are made",
    "none",
)
EMAIL_PORT = env.integer("EMAIL_PORT", 587, (1, 65_535), "its port")
EMAIL_SECURITY = env.choice(
    "EMAIL_SECURITY", "starttls", ("starttls", "tls", "none"), "`starttls`, `tls` (from the first byte on) or `none`"
)
EMAIL_HOST_USER = env.text("EMAIL_USER", "", "who signs in to it, and the password")
EMAIL_HOST_PASSWORD = env.secret("EMAIL_PASSWORD")
EMAIL_FROM = env.text("EMAIL_FROM", "", "who mail is from, as `Ragsite <ask@example.com>`", "`EMAIL_USER`")
OIDC_SERVER_URL = env.url(
    "OIDC_SERVER_URL", _HTTP, "the OpenID Connect provider, without `/.well-known/openid-configuration`"
)
OIDC_CLIENT_ID = env.text("OIDC_CLIENT_ID", "", "what the provider knows this site by, and the secret")
OIDC_CLIENT_SECRET = env.secret("OIDC_CLIENT_SECRET")
OIDC_NAME = env.text("OIDC_NAME", "", "what the provider is called on the page for signing in", "its host name")
OIDC_SIGN_UP = env.boolean(
    "OIDC_SIGN_UP",
    False,
    "whether everyone whom the provider knows gets an account; else only who has one or is invited",
)
OIDC_LINK_BY_EMAIL = env.boolean(
    "OIDC_LINK_BY_EMAIL",
    True,
    "whether an account is found by its e-mail address, where the provider says that this is verified",
)
OIDC_GROUPS_CLAIM = env.text(
    "OIDC_GROUPS_CLAIM",
    "",
    "the claim that names a person's groups, such as `groups`: with each sign-in their groups become those of them "
    "that this site has",
    "groups are kept by hand",
)
QUESTIONS_PER_DAY = env.optional_integer(
    "QUESTIONS_PER_DAY",
    (1, None),
    _("questions a person may ask per day, unless they or their groups have a limit of their own"),
    pgettext_lazy("setting", "any number"),
    live="site",
)
TOKENS_PER_MONTH = env.optional_integer(
    "TOKENS_PER_MONTH",
    (1, None),
    _("tokens that models may read and write for a person per month; likewise"),
    pgettext_lazy("setting", "any number"),
    live="site",
)
STORAGE_MB = env.optional_integer(
    "STORAGE_MB",
    (1, None),
    _("MB of documents in the knowledge bases that a person owns; likewise"),
    pgettext_lazy("setting", "any number"),
    live="site",
)
OWNERS_INVITE = env.boolean(
    "RAGSITE_OWNERS_INVITE",
    True,
    _("whether owners of knowledge bases may invite people who have no account yet; administrators always may"),
    live="site",
)
AUDIT_DAYS = env.integer(
    "AUDIT_DAYS",
    365,
    (0, 36_500),
    _("days to keep the audit log; `0` keeps it forever"),
    live="site",
)

env.section(_("Documents"), shown=False)
MAX_UPLOAD_MB = env.integer("RAGSITE_MAX_UPLOAD_MB", 200, (1, None), _("largest file, in MB"), live="site")
MAX_DOCUMENT_PAGES = env.integer(
    "RAGSITE_MAX_DOCUMENT_PAGES", 5000, (1, None), _("most pages of a document"), live="site"
)
MAX_TABLE_ROWS = env.integer(
    "RAGSITE_MAX_TABLE_ROWS", 200_000, (1, None), _("most rows of a sheet or table file"), live="site"
)
INGEST_WORKERS = env.integer(
    "RAGSITE_INGEST_WORKERS", 1, (1, 64), "documents read side by side; for small files each keeps one more place"
)
INGEST_TIMEOUT = env.integer("RAGSITE_INGEST_TIMEOUT", 3600, (60, None), "seconds for a document, indexing included")
PARSE_TIMEOUT = env.integer("RAGSITE_PARSE_TIMEOUT", 900, (10, None), "seconds to read a file, in a process of its own")
PARSE_MEMORY_MB = env.integer("RAGSITE_PARSE_MEMORY_MB", 3072, (256, None), "memory of that process")
OCR = env.choice(
    "RAGSITE_OCR",
    "auto",
    ("off", "auto", "always"),
    _(
        "when to read text in pictures (OCR): on pages without other text (`auto`), on every page (`always`), or "
        "`off`; it runs once the other text is searchable, and takes some seconds per page"
    ),
    live="site",
)
OCR_ENGINE = env.choice(
    "RAGSITE_OCR_ENGINE",
    "rapidocr",
    ("rapidocr", "tesseract"),
    "`rapidocr` reads Chinese and English with models of its own; `tesseract` must be installed, with its languages",
)
OCR_LANGUAGES = env.words(
    "RAGSITE_OCR_LANGUAGES", ("en", "zh"), "languages that tesseract reads, also by its own names"
)
OCR_MAX_PAGES = env.integer(
    "RAGSITE_OCR_MAX_PAGES",
    400,
    (1, None),
    _("scanned pages of a document that are read; one with more keeps the rest unread"),
    live="site",
)

env.section(_("Language model"))
LLM_BASE_URL = env.url(
    "LLM_BASE_URL", _HTTP, _("address of the endpoint, up to and including `/v1`; unset, answers are quoted")
)
LLM_API_KEY = env.secret("LLM_API_KEY", _("the endpoint's key, sent as a bearer token"))
LLM_MODEL = env.text("LLM_MODEL", "", _("the model's name"), _("first offered"))
LLM_CONTEXT_WINDOW = env.integer("LLM_CONTEXT_WINDOW", 16_384, (1024, None), _("tokens the model reads"))
LLM_MAX_TOKENS = env.integer(
    "LLM_MAX_TOKENS",
    2048,
    (16, None),
    _("most tokens in an answer; room for them is kept free in the context window"),
    live="site",
)
LLM_TEMPERATURE = env.decimal(
    "LLM_TEMPERATURE",
    0.3,
    (0.0, 2.0),
    _("0 to 2, for answers from documents; other purposes have their own"),
    live="site",
)
LLM_CONCURRENCY = env.integer(
    "LLM_CONCURRENCY",
    100,
    (0, None),
    _("requests at once per server process; others wait their turn, `0` for no limit"),
)
LLM_THINKING = env.choice(
    "LLM_THINKING",
    "",
    ("", "reasoning_effort", "enable_thinking", "thinking"),
    _(
        "the field by which the endpoint is asked to think before it answers, or not to: `reasoning_effort` (OpenAI, "
        "Ollama), `enable_thinking` (vLLM, Qwen) or `thinking` (DeepSeek, GLM)"
    ),
    _("it is not asked"),
)
LLM_CURRENCY = env.text(
    "LLM_CURRENCY", "USD", _("currency of the prices in model profiles, as the administration's overview shows it")
)
LLM_CONNECT_TIMEOUT = env.decimal("LLM_CONNECT_TIMEOUT", 10.0, (0.1, None), _("seconds to connect"))
LLM_IDLE_TIMEOUT = env.decimal("LLM_IDLE_TIMEOUT", 60.0, (0.1, None), _("seconds between two pieces of an answer"))
LLM_TOTAL_TIMEOUT = env.decimal("LLM_TOTAL_TIMEOUT", 600.0, (1.0, None), _("seconds for a whole answer"))
OLLAMA_URL = env.url(
    "OLLAMA_URL",
    _HTTP,
    _("where to look for a local Ollama to offer; never used without asking"),
    default="http://127.0.0.1:11434",
)

env.section(_("Search"))
ANSWER_TOP_K = env.integer("ANSWER_TOP_K", 5, (1, 100), _("passages that reach the answer"), live="assistant")
FUSED_K = env.integer("FUSED_K", 10, (1, 1000), _("hits kept after fusion"), live="assistant")
# Lists this deep are fused before they are cut to k: a hit that both retrievers rank 15th is worth finding.
RETRIEVER_TOP_K = env.integer(
    "RETRIEVER_TOP_K", 50, (1, 1000), _("hits of each retriever (words, vectors) that are fused"), live="assistant"
)
# Of 5 to 60, 10 ranked best on English and Chinese sets together; a smaller one trusts the first ranks more.
RRF_CONSTANT = env.integer("RRF_CONSTANT", 10, (1, None), _("the constant of reciprocal rank fusion"), live="assistant")
ENABLE_REORDER = env.boolean(
    "ENABLE_REORDER",
    True,
    _("put the first hits in order by features such as coverage and neighbouring words"),
    live="assistant",
)
# How much a vector ranking counts beside one by words: docs/decisions/fusion.md.
VECTOR_WEIGHT = env.decimal(
    "VECTOR_WEIGHT", 1.5, (0.0, 100.0), _("weight of the vector side against the word side"), live="assistant"
)
REORDER_TOP_N = env.integer(
    "REORDER_TOP_N", 20, (2, 1000), _("how many of the first hits are reordered"), live="assistant"
)
MERGE_NEIGHBOURS = env.boolean(
    "MERGE_NEIGHBOURS", True, _("join adjacent passages before an answer is written from them"), live="assistant"
)
BROAD_MAX_HITS_PER_DOCUMENT = env.integer(
    "BROAD_MAX_HITS_PER_DOCUMENT",
    4,
    (0, 1000),
    _("most hits of one document for overviews and comparisons; `0` is any number"),
    live="assistant",
)
VECTOR_THRESHOLD = env.optional_decimal(
    "VECTOR_THRESHOLD",
    _("least similarity in meaning: 0 is that of any passage, 1 what 5 of 100 have, 2 to 3 that of one that answers"),
    pgettext_lazy("setting", "off"),
    live="assistant",
)
BM25_THRESHOLD = env.optional_decimal(
    "BM25_THRESHOLD", _("least BM25 score"), pgettext_lazy("setting", "off"), live="assistant"
)
SEARCH_TIMEOUT = env.decimal(
    "SEARCH_TIMEOUT",
    10.0,
    (0.1, None),
    _("seconds for a side of a search, words or meaning; a late side is left out, with a note"),
)
SEARCH_CONCURRENCY = env.integer("SEARCH_CONCURRENCY", 8, (1, 1000), _("searches at once in a process"))
SEARCH_QUEUE = env.integer(
    "SEARCH_QUEUE",
    64,
    (0, None),
    _("searches that may wait for a place, up to `SEARCH_TIMEOUT`; more are answered 503"),
)
SEARCH_CACHE_SECONDS = env.decimal(
    "SEARCH_CACHE_SECONDS",
    300.0,
    (0.0, None),
    _("seconds for which a result is cached, unless its knowledge bases change first"),
)
SEARCH_CACHE_HITS = env.integer(
    "SEARCH_CACHE_HITS", 4096, (0, None), _("hits in all cached results together; `0` caches nothing")
)
EMBEDDING_MODEL = env.text(
    "EMBEDDING_MODEL", "bundled", _("`bundled`, or the name or folder of another model that fastembed runs")
)
EMBEDDING_THREADS = env.integer(
    "EMBEDDING_THREADS",
    0,
    (0, None),
    _("batches that the embedding model computes side by side"),
    _("as many as cores"),
)
EMBEDDING_PROVIDER = env.choice(
    "EMBEDDING_PROVIDER",
    "local",
    ("local", "openai"),
    _("`local`, or `openai`: any endpoint that speaks `/v1/embeddings`"),
)
EMBEDDING_BASE_URL = env.url("EMBEDDING_BASE_URL", _HTTP, _("that endpoint, up to and including `/v1`, and its key"))
EMBEDDING_API_KEY = env.secret("EMBEDDING_API_KEY")
# None: the model's own. pgvector indexes up to 4,000 numbers of two bytes.
EMBEDDING_DIMENSION = env.optional_integer(
    "EMBEDDING_DIMENSION", (1, 4000), _("dimensions of a vector, if the model lets you choose"), _("the model's own")
)
# None: those that the model's name tells. Empty ("all"): every language.
EMBEDDING_LANGUAGES = env.languages(
    "EMBEDDING_LANGUAGES",
    ("en", "zh"),
    _("`en`, `zh`, `en,zh` or `all`: what the model understands"),
    _("by the model's name"),
)
EMBEDDING_TIMEOUT = env.decimal(
    "EMBEDDING_TIMEOUT", 60.0, (0.1, None), _("seconds for a batch that is sent to an endpoint")
)
EMBEDDING_MODEL_MAX_MB = env.integer(
    "EMBEDDING_MODEL_MAX_MB", 4096, (1, None), _("largest embedding model that can be downloaded or uploaded")
)
# The graph of vectors: links per node and width of the walk when building (both take effect for new spaces), and when
# searching; and how many rows a filtered walk visits at most.
HNSW_M = env.integer("HNSW_M", 16, (4, 100), _("how the vector index is built"))
HNSW_EF_CONSTRUCTION = env.integer("HNSW_EF_CONSTRUCTION", 128, (8, 1000))
HNSW_EF_SEARCH = env.integer("HNSW_EF_SEARCH", 150, (10, 1000), _("how far the vector index is searched"))
HNSW_MAX_SCAN_TUPLES = env.integer("HNSW_MAX_SCAN_TUPLES", 40_000, (1000, None))
# What building the graph of a new space may take; where the graph is larger, its building takes many times as long.
HNSW_BUILD_MEMORY_MB = env.integer(
    "HNSW_BUILD_MEMORY_MB", 1024, (64, None), _("memory for building the index of a new model")
)

env.section(
    _("Reader"),
    before=(
        "A small model in the process reads the first passages together with the question: it puts them in order and "
        "tells whether they answer, and where. It is left out, with a note, when it would take too long or the "
        "processor is busy with other readings, and for what asks nothing."
    ),
    after=(
        "A folder of a cross-encoder may hold a `calibration.json`: "
        '`{"reader": {"answers": [slope, intercept], "blend": weight}}` turns its score into the log odds that a '
        "passage answers, and weighs it against what passages were worth before."
    ),
)
ENABLE_READER = env.boolean(
    "ENABLE_READER", True, _("have the first passages read together with the question"), live="assistant"
)
READER_MODEL = env.text(
    "READER_MODEL",
    "bundled",
    _("`bundled`, the folder or name of a cross-encoder to take its place, or `off`, which saves its memory"),
)
READER_PASSAGES = env.integer("READER_PASSAGES", 15, (1, 100), _("first passages that are read"), live="assistant")
READER_TIMEOUT = env.decimal("READER_TIMEOUT", 2.0, (0.05, None), _("seconds for a reading"), live="site")

env.section(
    _("Reranking"),
    before=(
        "A model can judge the first hits again before an answer is written. It is off unless `ENABLE_RERANK` is true. "
        "When it fails, the order stays and the trace says why; one that does not answer is left alone for 30 seconds."
    ),
    after=(
        "An enabled model profile for reranking in the admin comes before `RERANK_BASE_URL`; with `RERANK_METHOD=llm` "
        "it names a chat model, else `LLM_*` do."
    ),
)
ENABLE_RERANK = env.boolean("ENABLE_RERANK", False, _("have a model judge the first hits"), live="assistant")
RERANK_METHOD = env.choice(
    "RERANK_METHOD",
    "endpoint",
    ("endpoint", "local", "llm", "blend"),
    _("`endpoint`, `local` (a cross-encoder in this process), `llm` (the chat model) or `blend`"),
    live="assistant",
)
RERANK_BASE_URL = env.url(
    "RERANK_BASE_URL",
    _HTTP,
    _("the endpoint, its key and its model; an address that ends in `/rerank` is taken as it is"),
)
RERANK_API_KEY = env.secret("RERANK_API_KEY")
RERANK_MODEL = env.text("RERANK_MODEL")
RERANK_STYLE = env.choice(
    "RERANK_STYLE",
    "auto",
    ("auto", "jina", "cohere", "tei"),
    _(
        "how the endpoint is spoken to: `auto` finds out, or `jina` (also vLLM, llama.cpp, Xinference …), "
        "`cohere` or `tei`"
    ),
)
RERANK_LOCAL_MODEL = env.text(
    "RERANK_LOCAL_MODEL",
    "Xenova/ms-marco-MiniLM-L-6-v2",
    _("the cross-encoder: a name that fastembed knows, fetched once, or a folder"),
)
RERANK_BLEND = env.weights(
    "RERANK_BLEND",
    {"fused": 0.3, "endpoint": 0.7},
    ("fused", "endpoint", "local", "llm"),
    _("what a blend weighs: `fused`, `endpoint`, `local`, `llm`"),
    live="assistant",
)
RERANKER_INPUT_TOP_N = env.integer(
    "RERANKER_INPUT_TOP_N", 20, (1, 1000), _("first hits that are judged"), live="assistant"
)
RERANK_SCORE_THRESHOLD = env.decimal(
    "RERANK_SCORE_THRESHOLD",
    0.2,
    (0.0, 1.0),
    _("least score, 0 to 1; where no hit reaches it, nothing was found"),
    live="assistant",
)
RERANK_KEEP_BEST = env.boolean(
    "RERANK_KEEP_BEST", False, _("keep the best hits where none reaches that score"), live="assistant"
)
RERANK_TOP_K = env.integer("RERANK_TOP_K", 5, (1, 1000), _("hits that stay for an answer"), live="assistant")
# Tokens that are read of a query and a passage together; few rerankers read more than 512.
RERANK_MAX_TOKENS = env.integer(
    "RERANK_MAX_TOKENS", 512, (32, 32_768), _("tokens read of question and passage together")
)
RERANK_TIMEOUT = env.decimal("RERANK_TIMEOUT", 10.0, (0.1, None), _("seconds for a reranking"), live="site")

env.section(
    _("Conversation"),
    after=(
        "A model that stays silent for these seconds is left alone for a minute, and rules decide meanwhile; the trace "
        "of each answer says who decided, and why. One that spends its tokens on thinking is given more room from then "
        "on."
    ),
)
MAX_RECENT_TURNS = env.integer(
    "MAX_RECENT_TURNS", 5, (0, 100), _("earlier turns that are read along with a question"), live="assistant"
)
MAX_RELEVANT_TURNS = env.integer(
    "MAX_RELEVANT_TURNS",
    2,
    (0, 20),
    _("similar earlier turns that are read along with it, besides the recent ones; `0` for none"),
    live="assistant",
)
# Of 64 pairs of a question and one that asks the same in other words, all lie above; of questions about something
# else some 5 %: docs/decisions/followups.md.
RELEVANT_TURN_FLOOR = env.decimal(
    "RELEVANT_TURN_FLOOR",
    1.4,
    (0.0, 10.0),
    _("least similarity of such a turn to the question; `0` takes the nearest"),
    live="assistant",
)
MEMORY_MAX_FACTS = env.integer(
    "MEMORY_MAX_FACTS", 50, (1, 1000), _("facts that a person may have remembered, and characters of each")
)
MEMORY_FACT_CHARACTERS = env.integer("MEMORY_FACT_CHARACTERS", 300, (20, 4000))
MAX_QUESTION_CHARACTERS = env.integer(
    "MAX_QUESTION_CHARACTERS", 8000, (10, None), _("characters of the longest question")
)
ANSWER_MODE = env.choice(
    "ANSWER_MODE",
    "general",
    ("documents", "general", "chat"),
    _(
        "what answers come from: `documents` alone; `general`, documents and then general knowledge, where the "
        "knowledge bases allow it; or `chat`, the model alone"
    ),
    live="assistant",
)
ANSWER_LENGTH = env.choice(
    "ANSWER_LENGTH",
    "normal",
    ("short", "normal", "detailed"),
    _("how long answers are: `short`, `normal` or `detailed`; quoted ones too"),
    live="assistant",
)
ANSWER_LANGUAGE = env.choice(
    "ANSWER_LANGUAGE",
    "question",
    ("question", "en", "zh"),
    _("the language that a model is asked to answer in: that of the `question`, or always `en` or `zh`"),
    live="assistant",
)
ENABLE_MEMORY = env.boolean(
    "ENABLE_MEMORY",
    True,
    _("let people save facts that answers in later chats take into account"),
    live="assistant",
)
ANSWER_DIALECT = env.choice(
    "ANSWER_DIALECT",
    "markdown",
    ("markdown", "json"),
    _("how a model is asked to write: `markdown`, or `json` for block events; either is read"),
    live="assistant",
)
CITATION_VERIFIER = env.text(
    "CITATION_VERIFIER",
    "conversations.citations.verifiers.rules.Rules",
    _(
        "who judges the citations of a complete answer: rules, `….entailment.Entailment` or `….judge.Judge` "
        "(the chat model), or a class of your own"
    ),
)
CITATION_ENTAILMENT_MODEL = env.text(
    "CITATION_ENTAILMENT_MODEL", "", _("name or folder of the cross-encoder for entailment")
)
CITATION_ENTAILMENT_THRESHOLD = env.decimal(
    "CITATION_ENTAILMENT_THRESHOLD", 0.5, (0.0, 1.0), _("least probability of a verdict of it, 0 to 1")
)
CITATION_MODEL_CLAIMS = env.integer(
    "CITATION_MODEL_CLAIMS",
    20,
    (1, 200),
    _("sentences of an answer that a model judges; the rules judge the others"),
    live="site",
)
CITATION_MODEL_TIMEOUT = env.decimal(
    "CITATION_MODEL_TIMEOUT", 10.0, (0.1, 20.0), _("seconds for it; after them the rules' verdicts stand"), live="site"
)
ENABLE_SOURCE_CITATION = env.boolean(
    "ENABLE_SOURCE_CITATION",
    True,
    _(
        "have the model cite its sources as `[n]`; off, they are only listed below its answer, which is not "
        "checked and shows no pictures"
    ),
    live="assistant",
)
MAX_CONCURRENT_TURNS = env.integer("MAX_CONCURRENT_TURNS", 4, (1, None), _("answers at once, per user"), live="site")
API_REQUESTS_PER_MINUTE = env.integer(
    "API_REQUESTS_PER_MINUTE",
    1200,
    (0, None),
    _("requests to the API, per user (counted by each process, or together with Redis); `0` is any number"),
)
CONVERSATION_EXPIRE_DAYS = env.optional_integer(
    "CONVERSATION_EXPIRE_DAYS",
    (0, 36_500),
    _("days after which turns are removed, those of pinned chats apart"),
    pgettext_lazy("setting", "never"),
    live="site",
)
PURGE_AFTER_DAYS = env.integer(
    "PURGE_AFTER_DAYS", 30, (1, 36_500), _("days for which a deleted chat is kept"), live="site"
)
TRACE_EXPIRE_DAYS = env.optional_integer(
    "TRACE_EXPIRE_DAYS",
    (0, 36_500),
    _("days after which the trace of a turn is removed, with the messages that a model was sent"),
    pgettext_lazy("setting", "never"),
    live="site",
)
ENABLE_UNDERSTANDING = env.boolean(
    "ENABLE_UNDERSTANDING",
    True,
    _("ask the model what a question wants; rules decide where it is off, fails or is unsure"),
    live="assistant",
)
UNDERSTAND_TIMEOUT = env.decimal("UNDERSTAND_TIMEOUT", 12.0, (0.1, None), _("seconds for asking it"), live="site")
ENABLE_QUERY_REWRITE = env.boolean(
    "ENABLE_QUERY_REWRITE",
    True,
    _("have the model rewrite, for the search, a question that depends on the conversation"),
    live="assistant",
)
REWRITE_TIMEOUT = env.decimal("REWRITE_TIMEOUT", 8.0, (0.1, None), _("seconds for rewriting a question"), live="site")
READ_MAX_DOCUMENTS = env.integer(
    "READ_MAX_DOCUMENTS",
    5,
    (1, 50),
    _("documents that are read from beginning to end for one question, such as for a summary"),
    live="assistant",
)
READ_MAX_TOKENS = env.integer(
    "READ_MAX_TOKENS",
    400_000,
    (1000, None),
    _("tokens of them that are read; of what is beyond, the answer has the headings"),
    live="assistant",
)
READ_CONCURRENCY = env.integer(
    "READ_CONCURRENCY", 4, (1, 64), _("parts of them that a model reads at once"), live="site"
)
READ_PART_TIMEOUT = env.decimal(
    "READ_PART_TIMEOUT", 120.0, (0.1, None), _("seconds for one part; then it is tried once more"), live="site"
)
READ_TIMEOUT = env.decimal(
    "READ_TIMEOUT", 900.0, (0.1, None), _("seconds for all; the answer names what was not read"), live="site"
)
FILE_WAIT_SECONDS = env.decimal(
    "FILE_WAIT_SECONDS",
    90.0,
    (0, 900),
    _("how long a question waits for the files of its chat to be read; then it is answered without them, and says so"),
    live="site",
)
THOROUGH_ROUNDS = env.integer(
    "THOROUGH_ROUNDS",
    2,
    (1, 4),
    _("how often a thorough pipeline searches for the parts of a question, after the first time for what is missing"),
    live="assistant",
)
THOROUGH_TIMEOUT = env.decimal(
    "THOROUGH_TIMEOUT", 30.0, (0.1, None), _("seconds for all of it; what was found by then counts"), live="assistant"
)
THOROUGH_TOKENS = env.integer(
    "THOROUGH_TOKENS",
    3000,
    (200, 100_000),
    _("tokens of passages that the model is shown when it says what is missing"),
    live="assistant",
)
# From which relevance on passages count as found, and from which on as an answer (see `relevance_gate`): log-odds, 0 is
# where it was measured; -100 takes whatever is found.
RELEVANCE_THRESHOLD = env.decimal(
    "RELEVANCE_THRESHOLD",
    0.0,
    (-100.0, 100.0),
    _(
        "how clearly passages must speak of the question to count as found; `0` is as measured, more is "
        "stricter, `-100` is off"
    ),
    live="assistant",
)
ANSWER_THRESHOLD = env.decimal(
    "ANSWER_THRESHOLD",
    0.0,
    (-100.0, 100.0),
    _("how clearly they must answer it not to be called the closest ones; likewise"),
    live="assistant",
)
ENABLE_FILTER = env.boolean(
    "ENABLE_FILTER",
    False,
    _("have the model judge each hit for whether it answers, and drop those that don't"),
    live="assistant",
)
FILTER_INPUT_TOP_N = env.integer(
    "FILTER_INPUT_TOP_N", 10, (1, 100), _("hits that are judged, and how many at once"), live="assistant"
)
FILTER_CONCURRENCY = env.integer("FILTER_CONCURRENCY", 4, (1, 64), live="site")
FILTER_TIMEOUT = env.decimal(
    "FILTER_TIMEOUT", 20.0, (0.1, None), _("seconds for judging all of them; what was not judged stays"), live="site"
)
