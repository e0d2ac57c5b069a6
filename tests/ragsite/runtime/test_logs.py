"""Log records have a request ID, and JSON lines are complete."""

import asyncio
import json
import logging
import logging.config
import sys

import pytest
from django.conf import settings

from ragsite.runtime.logs import JsonFormatter, RequestId, about_request


def record(message: str, *args: object, **extra: object) -> logging.LogRecord:
    made = logging.getLogger("somewhere").makeRecord(
        "somewhere", logging.INFO, "f", 1, message, args, None, extra=extra
    )
    RequestId().filter(made)
    return made


def as_json(made: logging.LogRecord) -> dict[str, object]:
    line = JsonFormatter().format(made)
    assert "\n" not in line
    return json.loads(line)  # type: ignore[no-any-return]


def test_records_within_a_request_name_it_and_others_do_not() -> None:
    with about_request("abc"):
        assert record("within").request_id == "abc"  # type: ignore[attr-defined]
    assert record("outside").request_id == "-"  # type: ignore[attr-defined]


async def test_tasks_take_the_request_along_and_do_not_mix_them_up() -> None:
    meeting = asyncio.Barrier(2)

    async def turn(name: str) -> str:
        with about_request(name):
            await meeting.wait()
            return await asyncio.create_task(asyncio.to_thread(lambda: record("x").request_id))  # type: ignore[attr-defined]

    assert await asyncio.gather(turn("one"), turn("two")) == ["one", "two"]


def test_a_line_of_json_holds_message_fields_and_exception() -> None:
    with about_request("abc"):
        line = as_json(record("%d 页\nread", 3, fields={"ms": 1.5}))
    assert line["message"] == "3 页\nread" and line["ms"] == 1.5 and line["request_id"] == "abc"
    try:
        raise ValueError("broken")
    except ValueError:
        made = record("failed")
        made.exc_info = sys.exc_info()
    assert "ValueError: broken" in str(as_json(made)["exception"])


@pytest.mark.parametrize("form", ["line", "json"])
def test_both_forms_of_the_settings_name_the_request(form: str) -> None:
    configuration = json.loads(json.dumps(settings.LOGGING))
    factory = logging.config.DictConfigurator(configuration)
    formatter = factory.configure_formatter(configuration["formatters"][form])
    with about_request("abc"):
        assert "abc" in formatter.format(record("hello"))
