"""How the API reads JSON. Apart from `api`, which imports the views that take this from the settings."""

import json
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import parsers
from rest_framework.exceptions import ParseError


class JSONParser(parsers.JSONParser):
    """DRF's, to which JSON that is nested too deeply to be read, or no text, is the client's error like any other."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return the parsed body; raises `ParseError`."""
        try:
            data = super().parse(stream, media_type, parser_context)
            # Halves of characters, which are written as escapes, can neither be stored nor told.
            json.dumps(data, ensure_ascii=False).encode()
        except RecursionError as error:
            raise ParseError(_("The JSON is nested too deeply.")) from error
        except UnicodeEncodeError as error:
            raise ParseError(_("The JSON holds halves of characters.")) from error
        return data
