"""System checks of the site's own settings."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def bundled_model_is_whole(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """The embedded default needs its model's files."""
    missing = [name for name in ("model.onnx", "tokenizer.json") if not (settings.BUNDLED_MODEL_DIR / name).exists()]
    if not missing:
        return []
    return [
        Error(
            f"The bundled embedding model lacks {', '.join(missing)}.",
            hint=f"Restore {settings.BUNDLED_MODEL_DIR} from the repository.",
            id="ragsite.E001",
        )
    ]
