"""The map of the code names what is there."""

import re

from tests.site import ROOT

_PATH = re.compile(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`|`([a-z_]+\.py)`")


def test_all_places_on_the_map_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    within = [ROOT, *(path for path in ROOT.glob("conversations/**/") if path.is_dir()), ROOT / "knowledge/ingestion"]
    within += [ROOT / "knowledge/parsing", ROOT / "retrieval/engine"]
    named = {whole or name for whole, name in _PATH.findall(text)}
    assert len(named) > 30
    assert [name for name in sorted(named) if not any((folder / name).exists() for folder in within)] == []
