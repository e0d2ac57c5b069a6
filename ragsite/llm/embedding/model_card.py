"""Metadata in the files beside a model's weights: prefixes, languages, licence, range of its cosines.

| file | content |
|---|---|
| `config_sentence_transformers.json` | under `prompts`, the prefixes of a `query` and a `document` or `passage` |
| `README.md` | `language` and `license` in the YAML front matter, as in model cards on the hub |
| `calibration.json` | `Calibration`: `similarity` by languages (`"zh-en": [0.72, 0.758]`), `otherwise`, `alike` |
| | under `reader`, `ReaderCalibration` |
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

# The language in the cards of models that know about a hundred languages.
_EVERY_LANGUAGE = "multilingual"


@dataclass(frozen=True, slots=True)
class Calibration:
    """The scale of a model's cosines, by the languages of the question and the passage.

    For each pair of languages: the median cosine of a question and a random passage, and the 95th percentile. Both
    differ between models, and between languages of the same model: docs/decisions/embedding.md.
    """

    ranges: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    # For other pairs of languages: typical values of models without a calibration.
    otherwise: tuple[float, float] = (0.05, 0.25)
    # The cosine from which on two questions are considered the same: docs/decisions/unanswered.md.
    alike: float = 0.65

    def similarity(self, cosine: float, query_language: str, passage_language: str) -> float:
        """Return a cosine as a similarity: 0 at the median, 1 at the 95th percentile; relevant passages have 2 to 3."""
        median, high = self.ranges.get((query_language, passage_language), self.otherwise)
        return (cosine - median) / (high - median)


@dataclass(frozen=True, slots=True)
class ReaderCalibration:
    """The scale of the scores of a cross-encoder that reads passages.

    `answers` is the slope and intercept of the line from its score to the log odds that a passage answers, None if
    unknown; the score of a reader that locates answers is the sum of the strengths of its best short answer and best
    sentence. `blend` is the weight of its scores relative to the earlier ranking. `unsupported` is the value (rank plus
    twice `answers`) below which a passage doesn't support a statement that is read in place of the question, None if
    unknown.
    """

    answers: tuple[float, float] | None = None
    blend: float = 1.0
    unsupported: float | None = None


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Metadata from a model's files; `languages` is None if not stated, and empty for every language."""

    query_prefix: str | None = None
    document_prefix: str | None = None
    languages: tuple[str, ...] | None = None
    license: str = ""
    calibration: Calibration = Calibration()
    reader: ReaderCalibration = ReaderCalibration()

    @classmethod
    def of(cls, folder: Path) -> "ModelCard":
        """Return the metadata in a model's folder; files that are missing or can't be read are ignored."""
        prompts = read_json(folder / "config_sentence_transformers.json").get("prompts")
        prompts = prompts if isinstance(prompts, dict) else {}
        head = _head(folder / "README.md")
        stated = head.get("language")
        languages = tuple(map(str, [stated] if isinstance(stated, str) else stated)) if stated else None
        measured, default = read_json(folder / "calibration.json"), Calibration()
        ranges = {tuple(pair.split("-")): tuple(ends) for pair, ends in measured.get("similarity", {}).items()}
        otherwise = tuple(measured.get("otherwise", default.otherwise))
        reader = measured.get("reader", {})
        line, rank = reader.get("answers"), reader.get("unsupported")
        return cls(
            query_prefix=prompts.get("query"),
            document_prefix=prompts.get("document", prompts.get("passage")),
            languages=() if languages and _EVERY_LANGUAGE in languages else languages,
            license=str(head.get("license") or ""),
            calibration=Calibration(ranges, otherwise, measured.get("alike", default.alike)),
            reader=ReaderCalibration(
                answers=(float(line[0]), float(line[1])) if line else None,
                blend=float(reader.get("blend", 1.0)),
                unsupported=None if rank is None else float(rank),
            ),
        )


def _head(path: Path) -> dict[str, Any]:
    """Return the YAML front matter of a model card."""
    try:
        first, head, _rest = path.read_text(encoding="utf-8", errors="replace")[:20_000].split("---\n", 2)
        found = None if first.strip() else yaml.safe_load(head)
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    return found if isinstance(found, dict) else {}


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file, or an empty one if it can't be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
