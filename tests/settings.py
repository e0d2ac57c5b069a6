"""The site's settings, with a separate data folder and database for the test run."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

# Always a new folder, which is removed at the end, and never that in RAGSITE_DATA_DIR. Each worker of pytest-xdist has
# a subfolder with its own database server, which the processes that its tests start use, too.
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
# Without StaticFiles, which is asynchronous: every request of a test client would need a new event loop and threads,
# and every client would scan all static files. Browser tests and the test of the API's page cover it.
MIDDLEWARE = [name for name in MIDDLEWARE if not name.endswith(".StaticFiles")]

# Tests send more API requests per minute than users.
API_REQUESTS_PER_MINUTE = 0
# Nodes must declare what they read and write.
PIPELINE_CHECK_ACCESS = True

# The reader's results depend on how busy the machine is, and take half a second per question. Its tests enable it.
ENABLE_READER = False
