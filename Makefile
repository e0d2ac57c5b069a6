# `make run` and `make test` are all you need; both install what is missing first.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo "$$p"; break; }; done)
BIN := .venv/bin
UP ?=
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url $(UPGRADE)

# Several processes (see tests/conftest.py), each with its own database server. Bytecode of the tests is written even if
# the environment says otherwise, since compiling them takes ten seconds in each process.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses auto --dist loadgroup $(OPTIONS)
OPTIONS ?=

.PHONY: help install install-dev tools browser run test quick affected nightly suite checks lint types lock messages \
	docs screenshots clean

help:
	@echo "make run       start the site (UP='--port 8080' passes options to manage.py up)"
	@echo "make test      check style, types, templates and catalogues, and run the tests"
	@echo "make quick     run the tests that need no browser or running site and take less than 0.12 s each; takes two minutes"
	@echo "make affected  tests affected by your changes, except browser and site tests"
	@echo "make nightly   everything in make test, and the tests reserved for nightly runs"
	@echo "make install   install the packages into .venv; does nothing when nothing changed"
	@echo "make lock      update the lock files from pyproject.toml (UPGRADE=--upgrade allows newer versions)"
	@echo "make messages  collect the strings to translate and compile the catalogues"
	@echo "make docs      write docs/settings.md from the table of settings"
	@echo "make screenshots  retake the README pictures"
	@echo "make clean     remove the packages and caches; data is kept"

# $(call sync,LOCK,NAME): create the virtual environment and install LOCK, unless a stamp shows that the same contents
# are installed. The stamp is written last, so that an interrupted installation is repeated.
define sync
	@want="$$(cat $(1) pyproject.toml | cksum)"; \
	if [ -x $(BIN)/python ] && [ "$$(cat .venv/.$(2)-stamp 2>/dev/null)" = "$$want" ]; then exit 0; fi; \
	if [ ! -x $(BIN)/python ] || ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
		[ -n "$(PYTHON)" ] || { echo "Ragsite needs Python 3.11 or newer." >&2; exit 1; }; \
		"$(PYTHON)" -m venv --clear .venv || exit 1; \
	fi; \
	echo "Installing the packages of $(1) (this takes a minute, once) ..."; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(1) || exit 1; \
	echo "$$want" > .venv/.$(2)-stamp
endef

install:
	$(call sync,requirements.txt,run)

# Tests need these programs first, also under `make -j`; nothing else does.
install-dev: $(if $(filter test quick affected nightly,$(MAKECMDGOALS)),tools)
	$(call sync,requirements-dev.txt,dev)

# Programs that the tests start: installed with apt if possible, otherwise listed before anything runs.
tools:
	@tests/tools.sh "$(PYTHON)"

# The browser tests use the system's Chromium, or Playwright's, which is downloaded into .browsers.
browser: install-dev
	@if ! $(BIN)/python -m tests.browser.chromium; then \
		[ "$$(id -u)" = 0 ] && deps=--with-deps || deps=; \
		PLAYWRIGHT_BROWSERS_PATH="$(CURDIR)/.browsers" $(BIN)/playwright install $$deps chromium; \
	fi

run: install
	@exec $(BIN)/python manage.py up $(UP)

lint: install-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/djlint templates --lint --quiet

types: install-dev
	$(BIN)/mypy

checks: install-dev
	$(BIN)/python manage.py check --settings tests.settings
	$(BIN)/python manage.py makemigrations --check --dry-run --settings tests.settings

suite: install-dev
	$(PYTEST)

# Types are checked in parallel with the tests, which spend a third of their time waiting for pages and processes.
test: tools lint browser
	+@$(MAKE) --no-print-directory --jobs 2 types checks suite OPTIONS="-m 'not nightly' $(OPTIONS)"

nightly: tools lint browser
	+@$(MAKE) --no-print-directory --jobs 2 types checks suite OPTIONS="--nightly $(OPTIONS)"

quick: tools install-dev
	$(PYTEST) -m 'not browser and not site and not slow and not nightly'

# pytest-testmon records in .testmondata the code that each test runs. The first run includes all tests and takes twice
# as long.
affected: tools install-dev
	$(PYTEST) --testmon -m 'not browser and not site and not nightly'

lock: install-dev
	$(COMPILE) pyproject.toml --output-file requirements.txt
	$(COMPILE) pyproject.toml --extra dev --constraint requirements.txt --output-file requirements-dev.txt

messages: install-dev
	$(BIN)/python manage.py makemessages --locale zh_Hans --ignore 'tests/*' --no-wrap --no-obsolete --add-location file
	$(BIN)/python manage.py compilemessages --ignore .venv --locale zh_Hans

docs: install-dev
	$(BIN)/python manage.py list_settings > docs/settings.md

screenshots: browser
	$(BIN)/python -m tests.browser.screenshots

clean:
	rm -rf .venv .browsers .mypy_cache .ruff_cache .pytest_cache .hypothesis .prepared .testmondata*
