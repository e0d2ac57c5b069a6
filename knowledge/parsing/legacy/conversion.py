"""Runs LibreOffice on a file, in this process's group and under its limits, so that both end together."""

import os
import shutil
import subprocess
from pathlib import Path

from knowledge.parsing.errors import ParseError
from knowledge.parsing.legacy import libreoffice

TIMEOUT_S = 300.0
_FILTERS = {"docx": "MS Word 2007 XML", "xlsx": "Calc MS Excel 2007 XML", "pptx": "Impress MS PowerPoint 2007 XML"}

# Macros are disabled, and nothing that a file links to is fetched: neither from this machine's disk nor from the
# network, since every address but this one is behind a proxy that doesn't exist.
_COMMON, _INET = "/org.openoffice.Office.Common", "/org.openoffice.Inet/Settings"
_SETTINGS: tuple[tuple[str, str, str], ...] = (
    (f"{_COMMON}/Security/Scripting", "DisableMacrosExecution", "true"),
    (f"{_COMMON}/Security/Scripting", "MacroSecurityLevel", "3"),
    (f"{_COMMON}/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("/org.openoffice.Office.Writer/Content/Update", "Link", "0"),
    ("/org.openoffice.Office.Calc/Content/Update", "Link", "2"),
    (_INET, "ooInetProxyType", "2"),
    (_INET, "ooInetHTTPProxyName", "127.0.0.1"),
    (_INET, "ooInetHTTPProxyPort", "9"),
    (_INET, "ooInetHTTPSProxyName", "127.0.0.1"),
    (_INET, "ooInetHTTPSProxyPort", "9"),
)


def convert(path: Path, extension: str, newer: str, folder: Path) -> Path:
    """Convert a file to a `newer` format ("docx", "xlsx" or "pptx") in `folder`, using a new profile there.

    Return the path of the new file. Raises `ParseError` if LibreOffice can't open the file or takes too long.
    """
    profile = folder / "libreoffice"
    source = profile / f"source.{extension}"
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_registry(), encoding="utf-8")
    shutil.copyfile(path, source)
    command = [
        libreoffice.program(),
        f"-env:UserInstallation={profile.resolve().as_uri()}",
        *(
            "--headless",
            "--invisible",
            "--norestore",
            "--nologo",
            "--nodefault",
            "--nolockcheck",
            "--nofirststartwizard",
        ),
        *("--convert-to", f"{newer}:{_FILTERS[newer]}", "--outdir", str(profile), str(source)),
    ]
    environment = {"PATH": os.defpath, "HOME": str(profile), "TMPDIR": str(profile), "LC_ALL": "C.UTF-8"}
    environment |= {"SAL_USE_VCLPLUGIN": "svp", "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    try:
        subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ParseError("timeout.conversion", seconds=round(TIMEOUT_S)) from None
    target = source.with_suffix(f".{newer}")
    if not target.is_file() or target.stat().st_size == 0:  # its exit status is always 0
        raise ParseError("broken.conversion")
    return target


def _registry() -> str:
    items = "".join(
        f'<item oor:path="{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
        for path, name, value in _SETTINGS
    )
    names = 'xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema"'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<oor:items {names}>{items}</oor:items>'
