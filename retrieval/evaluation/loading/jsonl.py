"""Reading JSON lines, with errors that give the line and the problem. Pure."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from django.utils.translation import gettext as _

from knowledge.ingestion.passages import clean


class LineError(ValueError):
    """A line can't be used. `line` counts from 1; the message is shown to users and doesn't include it."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message

    def __str__(self) -> str:
        return _("line {line}: {message}").format(line=self.line, message=self.message)


def records(lines: Iterable[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each line's number and object; empty lines are skipped. Raises `LineError`."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, record_of(number, line)


def record_of(number: int, line: bytes) -> dict[str, Any]:
    """Return the object on a non-empty line. Raises `LineError`."""
    try:
        record = json.loads(line.rstrip().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        message = _("this is not UTF-8 text (byte {place})")
        raise LineError(number, message.format(place=error.start + 1)) from None
    except json.JSONDecodeError as error:
        message = _("this is not valid JSON ({reason} at character {place})")
        raise LineError(number, message.format(reason=error.msg, place=error.pos + 1)) from None
    except ValueError:
        raise LineError(number, _("this contains a number with too many digits")) from None
    except RecursionError:
        raise LineError(number, _("this is nested too deeply")) from None
    if not isinstance(record, dict):
        raise LineError(number, _("this is not a JSON object, like {example}").format(example='{"_id": …}'))
    return {clean(field): _cleaned(value) for field, value in record.items()}


def _cleaned(value: Any) -> Any:
    """Remove characters from all strings that the database can't store."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if isinstance(value, dict):
        return {clean(field): _cleaned(item) for field, item in value.items()}
    return value


def identifier(number: int, record: dict[str, Any], field: str) -> str:
    """Return an identifier field: a string or an integer, up to 255 characters. Raises `LineError`."""
    value = record.get(field)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if value is None:
        raise LineError(number, _("“{field}” is missing").format(field=field))
    if not isinstance(value, str) or not value.strip():
        raise LineError(number, _("“{field}” must be a non-empty string").format(field=field))
    if len(value) > 255:
        raise LineError(number, _("“{field}” is longer than 255 characters").format(field=field))
    return value.strip()


def text_of(number: int, record: dict[str, Any], field: str) -> str:
    """Return a string field, which may be empty. Raises `LineError`."""
    value = record.get(field)
    if value is None:
        raise LineError(number, _("“{field}” is missing").format(field=field))
    if not isinstance(value, str):
        raise LineError(number, _("“{field}” must be a string").format(field=field))
    return value
