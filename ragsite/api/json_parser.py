"""The API's JSON parser. In a module of its own, since the settings name it and DRF's views import it."""

import json
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import parsers
from rest_framework.exceptions import ParseError


class JSONParser(parsers.JSONParser):
    """DRF's parser, which also rejects JSON that is nested too deeply or contains unpaired surrogates."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return the parsed body; raises `ParseError`."""
        try:
            data = super().parse(stream, media_type, parser_context)
            # Unpaired surrogates, which JSON can express as escapes, can't be stored or encoded.
            json.dumps(data, ensure_ascii=False).encode()
        except RecursionError as error:
            raise ParseError(_("The JSON is nested too deeply.")) from error
        except UnicodeEncodeError as error:
            raise ParseError(_("The JSON contains unpaired surrogates.")) from error
        return data
