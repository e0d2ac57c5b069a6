"""The site's settings, and the commands of the benchmarks: `manage.py bench…` takes these."""

from ragsite.settings import *  # noqa: F403
from ragsite.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.benchmarks"]
