"""Add files of authored passages to `tools/models/data/`: they are checked, and a tenth is held out.

    python -m tools.models.reader.collect WRITTEN/*.jsonl

Passages with errors and duplicates are left out, and so are those that share a run of seven words or ten Han characters
with the site's evaluation sets (`tests/conversations/data/`). The held-out tenth, which is never trained on, is written
to `held.jsonl`: passages are sorted by language (`across` for questions in the other one), kind and the SHA-256 of
their ID, and every tenth is taken, from the fifth on. Passages of a base stay together: every tenth base is taken, in
order of language and the SHA-256 of its name.
"""

import argparse
import hashlib
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tools.models.reader.authored import Passage, faults, lines, passage_of, runs, texts_of

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "tools" / "models" / "data"
MEASURED = ROOT / "tests" / "conversations" / "data"
SHARE, FIRST = 10, 4


def measured_runs(folder: Path = MEASURED) -> set[str]:
    """Return all runs of words or characters in the site's evaluation sets."""
    found: set[str] = set()
    for path in folder.rglob("*"):
        if path.suffix == ".md" and path.name != "README.md":
            for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
                found |= runs(paragraph)
        elif path.suffix == ".jsonl":
            for line in lines(path):
                for text in _strings(json.loads(line)):
                    found |= runs(text)
    return found


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def why_not(passage: Passage, seen: set[str], measured: set[str]) -> str | None:
    """Return why a passage is left out, or None and add it to `seen`."""
    if found := next(faults(passage), None):
        return found
    if passage.id in seen or passage.text in seen:
        return "duplicate"
    if shared := next((run for text in texts_of(passage) for run in sorted(runs(text) & measured)), None):
        return f"shared with an evaluation set: {shared}"
    seen |= {passage.id, passage.text}
    return None


def held(passages: Sequence[Passage]) -> set[str]:
    """Return the IDs of the held-out tenth."""
    units: dict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        units[passage.base or passage.id].append(passage)

    def place(name: str) -> tuple[str, str, str]:
        first = units[name][0]
        across = any(question.lang != passage.lang for passage in units[name] for question in passage.questions)
        kind = "" if first.base else first.kind
        return "across" if across else first.lang, kind, hashlib.sha256(name.encode()).hexdigest()

    return {passage.id for name in sorted(units, key=place)[FIRST::SHARE] for passage in units[name]}


def main() -> None:
    """Add files, from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="files in the authored format; their names are kept")
    parser.add_argument("--whole", action="store_true", help="hold out nothing, for files that are already split")
    parser.add_argument("--output", type=Path, default=DATA)
    options = parser.parse_args()
    measured, seen = measured_runs(), set[str]()
    kept: dict[str, list[tuple[Passage, str]]] = defaultdict(list)
    for path in options.files:
        for number, line in enumerate(lines(path), 1):
            try:
                passage = passage_of(data := json.loads(line))
            except (ValueError, KeyError) as error:
                print(f"{path.name}:{number}: {error!r}", file=sys.stderr)
                continue
            if reason := why_not(passage, seen, measured):
                print(f"{path.name}:{number}: {reason}", file=sys.stderr)
            else:
                kept[path.name].append((passage, json.dumps(data, ensure_ascii=False) + "\n"))
    aside = set() if options.whole else held([passage for found in kept.values() for passage, _ in found])
    for name, found in kept.items():
        text = "".join(line for passage, line in found if passage.id not in aside)
        (options.output / name).write_text(text, encoding="utf-8")
    if aside:
        text = "".join(line for found in kept.values() for passage, line in found if passage.id in aside)
        (options.output / "held.jsonl").write_text(text, encoding="utf-8")
    print({name: len(found) for name, found in kept.items()}, "held out:", len(aside), file=sys.stderr)


if __name__ == "__main__":
    main()
