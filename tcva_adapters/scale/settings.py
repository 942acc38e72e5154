"""Make a scorer from plain values, which any engine can send to its workers."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from tcva_adapters.ccrs.scorer import CCRS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.evaluator import AnyScorer, Scorer
from tcva_adapters.judges.panel import with_panel
from tcva_adapters.judges.resolve import MAX_CONCURRENCY, model_of_name
from tcva_adapters.results.config import merge_options
from tcva_adapters.samples.fields import Fields
from tcva_adapters.tcva import TCVA

ScorerLike = AnyScorer | Fields


def scorer_of(settings: ScorerLike) -> AnyScorer:
    """Return the scorer, or the one that settings describe, which is made once in a process.

    Settings are the arguments of `TCVA`, or with ``metrics`` those of `CCRS`, by name. Further ones:
    ``model`` (a mapping of `ModelConfig` for judges that are named), ``panel`` (further judges of the
    same claims), ``combine`` (how they decide), and ``config`` (a file of ``tcva calibrate``).

    Raises:
        InvalidValueError: A setting is out of range or unknown, or cannot be pickled.
        MissingDependencyError: The judge's package is not installed.
        JudgeError: The judge has no API key.

    >>> scorer_of({"criterion": "faithfulness", "judge": "lexical", "temperature": "strict"}).name
    'tcva_faithfulness(T=0.2)'
    >>> scorer_of({"metrics": "qr", "judge": "lexical"}).required
    ('input', 'response')
    """
    if isinstance(settings, Scorer):
        return settings
    try:
        pickled = pickle.dumps(dict(settings))
    except Exception as error:
        raise InvalidValueError(
            f"settings must be plain values that can be pickled: {error}"
        ) from error
    return _made(pickled)


@lru_cache(maxsize=8)
def _made(pickled: bytes) -> AnyScorer:
    return make_scorer(**pickle.loads(pickled))  # noqa: S301  # pickled in the line that calls this


def make_scorer(
    *,
    model: Fields | None = None,
    panel: Sequence[object] | None = None,
    combine: str = "median",
    config: str | Path | None = None,
    **settings: Any,
) -> AnyScorer:
    """Make the scorer that settings describe, in the present environment; see `scorer_of`."""
    calls = settings.get("max_concurrency", MAX_CONCURRENCY)

    def with_model(judge: object) -> object:
        """Make the model of a name with the settings of models; return anything else unchanged."""
        if not model or not isinstance(judge, str):
            return judge
        return model_of_name(judge, **{"max_concurrency": calls, **model}) or judge

    if "judge" in settings:
        settings["judge"] = with_model(settings["judge"])
    if fuse := settings.get("fuse"):
        judges = fuse if isinstance(fuse, list) else [fuse]
        settings["fuse"] = [*map(with_model, judges)]
    if panel:
        judges = [settings.get("judge"), *map(with_model, panel)]
        settings = with_panel(judges, combine, settings)
    if config is not None:
        settings = merge_options(config, settings)
    scorer = CCRS if "metrics" in settings else TCVA
    return scorer(**settings)


def worker_settings(settings: ScorerLike, workers: int) -> ScorerLike:
    """Return the settings of one of several workers, whose calls together stay within the limits.

    ``max_concurrency`` and ``requests_per_minute`` of a mapping are divided; a scorer is frozen, so
    its limits hold in each worker.

    Args:
        settings: The settings of all workers together.
        workers: How many there are.

    >>> model = {"base_url": "http://127.0.0.1:8000/v1", "requests_per_minute": 60}
    >>> share = worker_settings({"judge": "openai:m", "max_concurrency": 16, "model": model}, 4)
    >>> share["max_concurrency"], share["model"]["requests_per_minute"]
    (4, 15.0)
    """
    if isinstance(settings, Scorer) or scorer_of(settings).is_local:
        return settings
    calls = settings.get("max_concurrency", MAX_CONCURRENCY)
    model = settings.get("model") or {}
    if workers > calls:
        raise InvalidValueError(
            f"workers must be at most max_concurrency={calls}, got {workers}"
        )
    if model.get("requests_per_minute"):
        model = {**model, "requests_per_minute": model["requests_per_minute"] / workers}
    return {**settings, "max_concurrency": calls // workers, "model": model}
