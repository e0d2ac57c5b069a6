"""Runs LibreOffice on a file, in this process's group and under its limits, so that both end together."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import mkdtemp

from knowledge.parsing.errors import ParseError
from knowledge.parsing.legacy import libreoffice

TIMEOUT_S = 300.0
_FILTERS = {"docx": "MS Word 2007 XML", "xlsx": "Calc MS Excel 2007 XML", "pptx": "Impress MS PowerPoint 2007 XML"}
_FILTERS |= {"ods": "calc8"}

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


# Formulas are calculated even if the file has their values.
_CALCULATE: tuple[tuple[str, str, str], ...] = (
    ("/org.openoffice.Office.Calc/Formula/Load", "OOXMLRecalcMode", "0"),
    ("/org.openoffice.Office.Calc/Formula/Load", "ODFRecalcMode", "0"),
)


def convert(path: Path, extension: str, newer: str, folder: Path, calculate: bool = False) -> Path:
    """Convert a file to a `newer` format ("docx", "xlsx", "ods" or "pptx") in `folder`, using a new profile there.

    Return the path of the new file; `calculate` means that its formulas are calculated again. Raises `ParseError` if
    LibreOffice can't open the file or takes too long.
    """
    folder.mkdir(parents=True, exist_ok=True)
    profile = Path(mkdtemp(prefix="libreoffice", dir=folder.resolve()))
    source, target = profile / f"source.{extension}", profile / "converted" / f"source.{newer}"
    (profile / "user").mkdir()
    items = "".join(
        f'<item oor:path="{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
        for path, name, value in (*_SETTINGS, *(_CALCULATE if calculate else ()))
    )
    names = 'xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema"'
    registry = f'<?xml version="1.0" encoding="UTF-8"?>\n<oor:items {names}>{items}</oor:items>'
    (profile / "user" / "registrymodifications.xcu").write_text(registry, encoding="utf-8")
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
        *("--convert-to", f"{newer}:{_FILTERS[newer]}", "--outdir", str(target.parent), str(source)),
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
    if not target.is_file() or target.stat().st_size == 0:  # its exit status is always 0
        raise ParseError("broken.conversion")
    return target
