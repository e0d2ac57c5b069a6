"""The site's settings with the benchmarks' commands, for `manage.py bench…`."""

from ragsite.settings import *  # noqa: F403
from ragsite.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.benchmarks"]
