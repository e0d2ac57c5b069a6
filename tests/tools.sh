#!/bin/sh
# What the tests need beside Python's packages: installed where apt can do it, else listed before anything else runs.
set -u

there() { command -v "$1" >/dev/null 2>&1; }
python="${1:-}"
missing=""
[ -x .venv/bin/python ] || "${python:-python3}" -c 'import ensurepip, venv' 2>/dev/null || missing="python3 python3-venv"
there redis-server || missing="$missing redis-server"
there pdftotext || missing="$missing poppler-utils"
{ there msgfmt && there xgettext; } || missing="$missing gettext"
# The programs that read older Office files: writer, calc and impress, without a desktop.
for module in writer:sw calc:sc impress:sd; do
    [ -e "/usr/lib/libreoffice/program/lib${module#*:}lo.so" ] || [ -d /Applications/LibreOffice.app ] ||
        missing="$missing libreoffice-${module%:*}-nogui"
done
if [ "$(uname)" = Linux ] && ! { there fc-list && [ -n "$(fc-list :lang=zh 2>/dev/null)" ]; }; then
    missing="$missing fontconfig fonts-noto-cjk" # the browser tests read Chinese
fi

as=unable
if there apt-get; then
    if [ "$(id -u)" = 0 ]; then as=""; elif there sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then as=sudo; fi
fi
# Without apt, Playwright's own Chromium is fetched later; with it, the system's comes with the libraries that it needs.
browser=""
if [ "$as" != unable ] && ! .venv/bin/python -m tests.browser.chromium 2>/dev/null &&
    ! there chromium && ! there chromium-headless-shell; then
    browser=chromium
fi
[ -n "$missing$browser" ] || exit 0

if [ "$as" = unable ]; then
    echo "The tests need these programs, named as Debian names their packages; please install them first:" >&2
    for package in $missing; do echo "  $package" >&2; done
    exit 1
fi
echo "Installing what the tests need:$(printf ' %s' $missing $browser) ..."
$as apt-get update -q || exit 1
# One without a desktop does the same with less, where the distribution has it.
if [ -n "$browser" ] && apt-cache show chromium-headless-shell >/dev/null 2>&1; then browser=chromium-headless-shell; fi
$as env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing $browser
