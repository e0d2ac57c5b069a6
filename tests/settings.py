"""The site's settings, on a data folder and a database of the test run's own."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

# Always a new folder, which is removed at the end; never the site's own that RAGSITE_DATA_DIR may name. Each worker of
# pytest-xdist has its own part of it, with its own server, and shares that with the processes that its tests start.
_shared = os.environ.get("TESTS_OF_RAGSITE_DIR")
_folder = _shared or tempfile.mkdtemp(prefix="ragsite-tests-")
_owner = None if _shared else os.getpid()
os.environ["TESTS_OF_RAGSITE_DIR"] = _folder
os.environ["RAGSITE_DATA_DIR"] = str(Path(_folder, os.environ.get("PYTEST_XDIST_WORKER", "alone")))


def _remove() -> None:
    if os.getpid() == _owner:
        shutil.rmtree(_folder, ignore_errors=True)


atexit.register(_remove)  # before the server registers its own exit, so that it runs after

for _name in [name for name in os.environ if name.startswith(("EMBEDDING_", "LLM_", "RERANK", "ENABLE_"))]:
    del os.environ[_name]
for _name in ("DATABASE_URL", "REDIS_URL"):
    os.environ.pop(_name, None)

from tests.benchmarks.settings import *  # noqa: E402, F403
from tests.benchmarks.settings import EMBEDDED_POSTGRES_CONF, MIDDLEWARE  # noqa: E402

POSTGRES_MEMORY_MB = 128
EMBEDDED_POSTGRES_CONF |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# It is asynchronous: every request of a test's client would wait for an event loop and threads of its own, and every
# client look through all static files. The browser tests see them served, and so does the test of the API's page.
MIDDLEWARE = [name for name in MIDDLEWARE if not name.endswith(".StaticFiles")]

# Tests ask the API more often in a minute than people do.
API_REQUESTS_PER_MINUTE = 0
# What nodes declare is the truth.
PIPELINE_CHECK_ACCESS = True

# What is read depends on how busy the machine is, and takes half a second a question. Tests of the reader switch it on.
ENABLE_READER = False
