"""Check that an added model computes valid vectors."""

from pathlib import Path

import numpy as np
from django.utils.translation import gettext as _

from ragsite.llm.embedding.local import LocalEmbedder
from ragsite.llm.embedding.model_files import Refused
from ragsite.llm.errors import LocalModelNotFound

# The most dimensions that pgvector can index.
MOST_DIMENSIONS = 4000
_TEXTS = ("The switch has nine ports.", "午餐在中午。", "Lunch is at noon.")


def check(staging: Path, name: str) -> int:
    """Load the model in a staging folder, let it compute vectors, and return its dimension. Raises `Refused`."""
    try:
        embedder = LocalEmbedder(name, files=staging)
        vectors = embedder.embed_documents(_TEXTS)
        query = embedder.embed_query(_TEXTS[0])
    except LocalModelNotFound as error:
        raise Refused(str(error.detail or error)) from error
    except Exception as error:  # of ONNX Runtime and tokenizers, since the files may contain anything
        if "shape mismatch" in str(error):
            raise Refused(_("Its vectors don't have the dimension stated in its configuration.")) from error
        kind = type(error).__name__
        raise Refused(_("It can't be loaded: {error}").format(error=f"{kind}: {str(error)[:300]}")) from error
    if not 1 <= embedder.dimension <= MOST_DIMENSIONS:
        message = _("Its vectors have {n} dimensions; this site supports up to {most}.")
        raise Refused(message.format(n=embedder.dimension, most=MOST_DIMENSIONS))
    if not np.isfinite(vectors).all() or not np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3):
        raise Refused(_("It doesn't compute valid vectors."))
    if float(vectors[0] @ vectors[2]) > 0.9999 or float(vectors[0] @ query) < float(vectors[2] @ query):
        raise Refused(_("It computes the same vector for different texts."))
    return embedder.dimension
