"""A scorer from plain values, which any engine can carry to its workers."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from tcva_adapters.ccrs.scorer import CCRS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.judges.panel import panel_of
from tcva_adapters.judges.resolve import MAX_CONCURRENCY, model_of_name
from tcva_adapters.results.config import configured
from tcva_adapters.tcva import TCVA

ScorerLike = Scorer[Any] | Mapping[str, Any]
"""A scorer, or its arguments by name.

Those of `TCVA`, or with ``metrics`` those of `CCRS`. Beside them: ``model`` (a mapping of
`ModelConfig` for judges that are named), ``panel`` (additional judges of the same claims),
``combine`` (how they decide), and ``config`` (a file of ``tcva calibrate``).
"""

_SCORERS_KEPT: Final = 8

_TYPES: Final[Mapping[str, tuple[tuple[type, ...], str]]] = {
    "model": ((Mapping,), "a mapping of a model's settings"),
    "panel": ((list, tuple), "a list of judges"),
    "config": ((str, Path), "the path of a file"),
}


def scorer_of(settings: ScorerLike) -> Scorer[Any]:
    """The scorer itself, or the one that these settings mean; made once in a process.

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
    plain: Any = settings
    if not isinstance(plain, Mapping):
        msg = f"settings={plain!r}; they are a mapping of arguments, or a TCVA or CCRS object"
        raise InvalidValueError(msg)
    _check_types(plain)
    try:
        pickled = pickle.dumps(dict(settings))
    except Exception as error:
        names = ", ".join(settings)
        msg = f"settings are plain values that can be pickled; one of {names} is not: {error}"
        raise InvalidValueError(msg) from error
    return _made(pickled)


def _check_types(settings: Mapping[Any, Any]) -> None:
    """Refuse what would fail with no word of which setting it was."""
    for name, value in settings.items():
        if not isinstance(name, str):
            msg = f"settings are named by texts; {name!r} is none"
            raise InvalidValueError(msg)
        wanted = _TYPES.get(name)
        if wanted is not None and value is not None and not isinstance(value, wanted[0]):
            msg = f"{name}={value!r} among the settings; it is {wanted[1]}"
            raise InvalidValueError(msg)


@lru_cache(maxsize=_SCORERS_KEPT)
def _made(pickled: bytes) -> Scorer[Any]:
    return made_of(pickle.loads(pickled))  # noqa: S301  # pickled in the line that calls this


def made_of(plain: Mapping[str, Any]) -> Scorer[Any]:
    """The scorer that settings mean under the environment of now; see `scorer_of`."""
    settings = dict(plain)
    given = settings.pop("model", None) or {}
    concurrency = settings.get("max_concurrency", MAX_CONCURRENCY)

    def asked(judge: Any) -> Any:
        """The model that a name means under the settings of models; everything else as it is."""
        if not given or not isinstance(judge, str):
            return judge
        return model_of_name(judge, **{"max_concurrency": concurrency, **given}) or judge

    if "judge" in settings:
        settings["judge"] = asked(settings["judge"])
    if settings.get("fuse"):
        fuse = settings["fuse"]
        settings["fuse"] = [asked(each) for each in (fuse if isinstance(fuse, list) else [fuse])]
    panel, combine = settings.pop("panel", None), settings.pop("combine", "median")
    if panel:
        judges = [settings.get("judge"), *map(asked, panel)]
        first, settings = panel_of(judges, combine, settings)
        settings["judge"] = first
    config = settings.pop("config", None)
    if config is not None:
        settings = configured(config, settings)
    return CCRS(**settings) if "metrics" in settings else TCVA(**settings)


def shared_out(settings: ScorerLike, workers: int) -> ScorerLike:
    """The settings of one of several workers, whose calls together stay within the limits.

    ``max_concurrency`` and ``requests_per_minute`` of a mapping are divided; a scorer is frozen, so
    its limits hold in each worker.

    Args:
        settings: Of all of them together.
        workers: How many there are.

    >>> model = {"base_url": "http://127.0.0.1:8000/v1", "requests_per_minute": 60}
    >>> own = shared_out({"judge": "openai:m", "max_concurrency": 16, "model": model}, 4)
    >>> own["max_concurrency"], own["model"]["requests_per_minute"]
    (4, 15.0)
    """
    if isinstance(settings, Scorer) or scorer_of(settings).is_local:
        return settings
    calls = settings.get("max_concurrency", MAX_CONCURRENCY)
    check_workers(calls, workers)
    calls, model = share(calls, settings.get("model") or {}, workers)
    return {**settings, "max_concurrency": calls, **({"model": model} if model else {})}


def share(
    max_concurrency: int, model: Mapping[str, Any], workers: int
) -> tuple[int, dict[str, Any]]:
    """Each worker's share of the calls under way, at least one, and of those of a minute."""
    model = dict(model)
    if model.get("requests_per_minute"):
        model["requests_per_minute"] /= workers
    return max(1, max_concurrency // workers), model


def check_workers(max_concurrency: int, workers: int) -> None:
    """Refuse workers that have no call of their own.

    Raises:
        InvalidValueError: There are more workers than calls.
    """
    if workers > max_concurrency:
        msg = (
            f"{workers} workers share max_concurrency={max_concurrency}, and each needs a call of "
            "its own; take fewer workers, or allow more calls at once"
        )
        raise InvalidValueError(msg)
