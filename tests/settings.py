"""The site's settings, on a data folder and a database of the test run's own."""

import atexit
import os
import shutil
import tempfile

_folder = os.environ.setdefault("RAGSITE_DATA_DIR", tempfile.mkdtemp(prefix="ragsite-tests-"))
_owner = os.getpid()


def _remove() -> None:
    if os.getpid() == _owner:
        shutil.rmtree(_folder, ignore_errors=True)


atexit.register(_remove)  # before the server registers its own exit, so that it runs after

for _name in ("DATABASE_URL", "LLM_BASE_URL", "LLM_API_KEY", "LLM_MODEL", "REDIS_URL"):
    os.environ.pop(_name, None)
for _name in [name for name in os.environ if name.startswith("EMBEDDING_")]:
    del os.environ[_name]

from ragsite.settings import *  # noqa: E402, F403
from ragsite.settings import EMBEDDED_POSTGRES_CONF  # noqa: E402

EMBEDDED_POSTGRES_CONF |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
