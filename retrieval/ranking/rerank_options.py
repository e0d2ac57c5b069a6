"""Options for reranking."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, get_args

from ragsite.site_settings.config import config

Method = Literal["off", "endpoint", "local", "llm", "blend"]
METHODS: tuple[str, ...] = get_args(Method)
# In a blend, the name of the hits' fused score.
FUSED = "fused"


@dataclass(frozen=True, slots=True)
class RerankOptions:
    """How to rerank, by default as in the settings. Hashable, since it is part of a search's cache key.

    The first `input_top_n` hits are scored; those with at least `threshold` (0 to 1) are kept, at most `top_k`. If none
    reaches it, none is kept, or the best with `keep_best`. `blend` has the weights of the methods, and of `fused`, in a
    blend. `timeout` is in seconds.
    """

    method: Method = "off"
    input_top_n: int = field(default_factory=lambda: int(config.RERANKER_INPUT_TOP_N))
    threshold: float = field(default_factory=lambda: float(config.RERANK_SCORE_THRESHOLD))
    keep_best: bool = field(default_factory=lambda: bool(config.RERANK_KEEP_BEST))
    top_k: int = field(default_factory=lambda: int(config.RERANK_TOP_K))
    blend: tuple[tuple[str, float], ...] = field(default_factory=lambda: tuple(sorted(config.RERANK_BLEND.items())))
    timeout: float = field(default_factory=lambda: float(config.RERANK_TIMEOUT))

    @classmethod
    def from_settings(cls, **changes: Any) -> Self:
        """Return the site's options: the method in the settings, or `off`. `changes` are fields to override."""
        return cls.from_name(config.RERANK_METHOD if config.ENABLE_RERANK else "off", **changes)

    @classmethod
    def from_name(cls, name: str, **changes: Any) -> Self:
        """Return the options of a method given by name; `changes` are fields to override.

        To measure a ranking, use `threshold=0` and a `top_k` as deep as the metrics. Raises `ValueError` for an unknown
        name.
        """
        if name not in METHODS:
            raise ValueError(f"{name!r} is not a method of reranking. Choose one of: {', '.join(METHODS)}.")
        return replace(cls(), **{"method": name, **changes})

    @property
    def weights(self) -> dict[str, float]:
        """The methods to use, and `fused`, with their weights."""
        if self.method == "blend":
            return {name: weight for name, weight in self.blend if weight > 0}
        return {} if self.method == "off" else {self.method: 1.0}
