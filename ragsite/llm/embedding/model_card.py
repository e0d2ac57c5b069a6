"""What a model says of itself, in the files beside its weights: prefixes, languages, licence, range of its cosines.

| file | says |
|---|---|
| `config_sentence_transformers.json` | under `prompts`, what stands before a `query` and a `document` or `passage` |
| `README.md` | in its YAML head, `language` and `license`, as model cards on the hub do |
| `calibration.json` | `Calibration`: `similarity` by languages (`"zh-en": [0.72, 0.758]`), `otherwise`, `alike` |
| | under `reader`, what `ReaderCalibration` holds |
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

# Cards say so of models that know about a hundred languages.
_EVERY_LANGUAGE = "multilingual"


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the cosines of a model mean, by the languages of a question and of a passage.

    Of each pair the median cosine of a question and any passage, and the cosine that 95 of 100 such passages stay
    below. Models differ in both, and so does one model from language to language: docs/decisions/embedding.md.
    """

    ranges: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    # Of languages that aren't named: what models without a description mostly have.
    otherwise: tuple[float, float] = (0.05, 0.25)
    # The cosine from which on two questions ask the same: docs/decisions/unanswered.md.
    alike: float = 0.65

    def similarity(self, cosine: float, query_language: str, passage_language: str) -> float:
        """Return a cosine as a similarity: 0 as that of any passage, 1 as only 5 of 100 have it; right ones, 2 to 3."""
        median, high = self.ranges.get((query_language, passage_language), self.otherwise)
        return (cosine - median) / (high - median)


@dataclass(frozen=True, slots=True)
class ReaderCalibration:
    """What the scores of a cross-encoder that reads passages mean.

    `answers` is slope and intercept of the line from its score (of one that finds the answer, the strengths of its best
    short answer and of its best sentence, added) to the log odds that a passage answers; None where that is not known.
    `blend` is what its scores count beside what passages were worth before.
    """

    answers: tuple[float, float] | None = None
    blend: float = 1.0


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What is known of a model from its files; `languages` is None where they don't say, empty for every language."""

    query_prefix: str | None = None
    document_prefix: str | None = None
    languages: tuple[str, ...] | None = None
    license: str = ""
    calibration: Calibration = Calibration()
    reader: ReaderCalibration = ReaderCalibration()

    @classmethod
    def of(cls, folder: Path) -> "ModelCard":
        """Read what the files of a model's folder say; what is missing or can't be read counts as not said."""
        prompts = read_json(folder / "config_sentence_transformers.json").get("prompts")
        prompts = prompts if isinstance(prompts, dict) else {}
        head = _head(folder / "README.md")
        told = head.get("language")
        languages = tuple(map(str, [told] if isinstance(told, str) else told)) if told else None
        return cls(
            query_prefix=prompts.get("query"),
            document_prefix=prompts.get("document", prompts.get("passage")),
            languages=() if languages and _EVERY_LANGUAGE in languages else languages,
            license=str(head.get("license") or ""),
            calibration=_calibration(folder / "calibration.json"),
            reader=_reader(folder / "calibration.json"),
        )


def _calibration(path: Path) -> Calibration:
    told, usual = read_json(path), Calibration()
    ranges = {tuple(pair.split("-")): tuple(ends) for pair, ends in told.get("similarity", {}).items()}
    otherwise = tuple(told.get("otherwise", usual.otherwise))
    return Calibration(ranges, otherwise, told.get("alike", usual.alike))


def _reader(path: Path) -> ReaderCalibration:
    told = read_json(path).get("reader", {})
    line = told.get("answers")
    return ReaderCalibration(
        answers=(float(line[0]), float(line[1])) if line else None,
        blend=float(told.get("blend", 1.0)),
    )


def _head(path: Path) -> dict[str, Any]:
    """Return the YAML at the head of a model card."""
    try:
        first, head, _rest = path.read_text(encoding="utf-8", errors="replace")[:20_000].split("---\n", 2)
        found = None if first.strip() else yaml.safe_load(head)
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    return found if isinstance(found, dict) else {}


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a file; empty where there is none that can be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
