"""The settings of a metric, checked together, and everything that follows from them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from deepeval.metrics.utils import initialize_model
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import SingleTurnParams

from tcva_adapters.core.verdicts import SCHEMES, WeightScheme
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judging.judge import MAX_CLAIMS, Judge, ModelJudge
from tcva_adapters.results.result import Scoring
from tcva_adapters.results.scoring import Fusion, Profiles
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.tcva import TCVA

_DIAL: Final = ("temperature", "scheme", "penalty", "eps", "floor", "on_unscored", "fusion")

_USUAL: Final = MappingProxyType(
    {
        **{name: getattr(Scoring(), name) for name in _DIAL},
        "claims": "split",
        "max_claims": MAX_CLAIMS,
        "fuse": None,
        "profiles": None,
    }
)
"""What `TCVA` takes under the same name, and the value that a metric's name does not mention."""

FLAGS: Final = ("include_reason", "async_mode", "strict_mode", "verbose_mode", "flaky")
"""DeepEval's own settings that are on or off."""

SETTINGS: Final = frozenset(
    {"criterion", "threshold", "model", "mapping", "store", "name", "collected", *_USUAL, *FLAGS}
)
"""Everything that a metric is built with, by the names of its parameters."""

PARAMS: Final = MappingProxyType(
    {
        "input": SingleTurnParams.INPUT,
        "response": SingleTurnParams.ACTUAL_OUTPUT,
        "contexts": SingleTurnParams.RETRIEVAL_CONTEXT,
        "reference": SingleTurnParams.EXPECTED_OUTPUT,
    }
)
"""A sample's fields under DeepEval's names."""

_OURS: Final = re.compile(r"lexical|openai:.*")
"""Names of judges that are not DeepEval's to understand."""


def attributes(given: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a metric with these settings.

    DeepEval copies a metric by calling its class with every attribute that has the name of a
    parameter. So each setting is kept under its own name, in the form in which it is used; judge,
    store and list are kept as objects, which copies then share.

    Args:
        given: A value for each of `SETTINGS`.

    Raises:
        InvalidValueError: A setting is out of range or unknown.
        MissingDependencyError: The judge's package is not installed.
        DeepEvalError: The choice of judge is left to DeepEval, and its provider has no key.
    """
    check_usual(given)
    profiles = given["profiles"]
    if profiles is not None and not isinstance(profiles, Profiles):
        msg = f"profiles={profiles!r}; it is a Profiles, or None for the same settings everywhere"
        raise InvalidValueError(msg)
    threshold = 1.0 if given["strict_mode"] else given["threshold"]
    judge = judge_for(given["model"])
    dial = {name: given[name] for name in _USUAL}
    if given["strict_mode"] and given["profiles"] is not None:
        dial["profiles"] = _without_thresholds(given["profiles"])
    tcva = TCVA(
        given["criterion"],
        judge=judge,
        # Without a threshold there is nothing that a score could fall short of.
        threshold=0.0 if threshold is None else threshold,
        mapping=given["mapping"],
        store=given["store"],
        **dial,
    )
    used = {
        **given,
        "criterion": tcva.criterion,
        "threshold": threshold,
        "temperature": tcva.scoring.temperature,
        "scheme": tcva.scoring.scheme,
        "model": _shared(judge, tcva.judge),
        "fuse": tcva.fuse or None,
        "store": tcva.store,
        "collected": [] if given["collected"] is None else given["collected"],
    }
    return {
        **used,
        "name": default_name(used) if given["name"] is None else given["name"],
        "evaluation_model": tcva.judge.name,
        "_required_params": [PARAMS[field] for field in tcva.criterion.required],
        "_tcva": tcva,
    }


def default_name(settings: Mapping[str, Any]) -> str:
    """What a metric is called where it was given no name: its criterion, and what is not usual.

    Reports show threshold, strict mode and judge beside the name; all else that can change a score
    is in the name, so that two metrics in one run are told apart.
    """
    changed = [
        f"{_LABELS.get(name, name)}={_shown(settings[name])}"
        for name, usual in _USUAL.items()
        if settings[name] != usual
    ]
    details = f" ({', '.join(changed)})" if changed else ""
    return f"TCVA {settings['criterion'].name}{details}"


def fingerprint(tcva: TCVA) -> str:
    """Everything that can change a score, as a text that is equal where it is equal."""
    judged = (
        (
            each.criterion.fingerprint,
            each.judge.name,
            each.judge.prompt_version,
            sorted(each.judge.parameters.items()),
        )
        for each in (tcva, *tcva.members)
    )
    return f"tcva {tcva.criterion.name} {tcva.scoring!r} {tcva.profiles!r} {list(judged)!r}"


_LABELS: Final = {"temperature": "T"}


def _shown(value: Any) -> str:
    if isinstance(value, WeightScheme):
        published = SCHEMES.get(value.name) == value
        return value.name if published else "/".join(f"{weight:g}" for weight in value.weights)
    if isinstance(value, tuple):  # the further judges
        return "+".join(map(_judge_shown, value))
    if isinstance(value, Fusion):
        mean = "geometric" if value.temperature is None else f"T={value.temperature:g}"
        weights = "" if value.weights is None else "/".join(f"{w:g}" for w in value.weights)
        return " ".join(filter(None, (mean, weights)))
    if isinstance(value, Profiles):
        return f"by {value.by}"
    return value if isinstance(value, str) else f"{value:g}"


def _judge_shown(judge: Judge | TCVA) -> str:
    return f"{judge.judge.name} {judge.criterion.name}" if isinstance(judge, TCVA) else judge.name


def check_usual(given: Mapping[str, Any]) -> None:
    """Refuse what nobody else would look at before the first test case.

    Raises:
        InvalidValueError: A flag, the threshold, the name, the store or the list cannot be used.
    """
    for flag in FLAGS:
        if not isinstance(given[flag], bool):
            msg = f"{flag}={given[flag]!r}; it is True or False"
            raise InvalidValueError(msg)
    if given["threshold"] is not None:
        Scoring(threshold=given["threshold"])  # also where strict_mode will replace it
    name, store, collected = given["name"], given["store"], given["collected"]
    if name is not None and not (isinstance(name, str) and name.strip()):
        msg = f"name={name!r}; it is a text, or None for a name that tells the settings"
        raise InvalidValueError(msg)
    if store is not None and not isinstance(store, VerdictStore | str | Path):
        msg = f"store={store!r}; it is a file name, a VerdictStore, or None for no store"
        raise InvalidValueError(msg)
    if collected is not None and not isinstance(collected, list):
        msg = f"collected={collected!r}; it is a list to add results to, or None for a new one"
        raise InvalidValueError(msg)


def judge_for(model: Any) -> Any:
    """The judge that ``model=`` stands for: names that are not ours are DeepEval's to resolve.

    Raises:
        DeepEvalError: The choice is left to DeepEval, and its provider has no key.
    """
    if model is None or (isinstance(model, str) and not _OURS.fullmatch(model)):
        return initialize_model(model)[0]
    return model


def _shared(given: Any, judge: Judge) -> Any:
    if isinstance(given, DeepEvalBaseLLM) or not isinstance(judge, ModelJudge):
        return given
    # One client for all copies; how claims are made is theirs to say again.
    return given if given is judge else judge.model


def _without_thresholds(profiles: Profiles) -> Profiles:
    """For strict mode, whose threshold is 1 whatever else is set."""
    values = {
        value: {name: setting for name, setting in settings.items() if name != "threshold"}
        for value, settings in profiles.values.items()
    }
    return Profiles(profiles.by, values)
