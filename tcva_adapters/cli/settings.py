"""How what was typed becomes settings: ``--set``, ``--human``, pairs, judges and stores."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from tcva_adapters.console import note
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.frameworks import NO_TELEMETRY
from tcva_adapters.judges.resolve import DEFAULT
from tcva_adapters.results.config import Config
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.settings import ModelConfig
from tcva_adapters.results.settings_model import SettingsModel
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.results.unknown_names import check_names

AnyScorer = TypeVar("AnyScorer", bound=Scorer[Any])
Model = TypeVar("Model", bound=SettingsModel)

DEFAULT_STORE: Final = Path(".tcva/verdicts.sqlite")
NONE: Final = "none"

MODEL: Final = ("timeout", "max_retries", "requests_per_minute", "prices", "max_tokens")
"""Settings of a model that ``--set`` takes; its server and its key stand in the environment."""

_OPTIONS: Final = frozenset({"share", "store", "fuse", "guarantee"})
"""Settings that have an option of their own, or none."""


def parse_settings(
    pairs: Iterable[str] | None,
    *models: type[SettingsModel],
    options: Iterable[str] = (),
) -> dict[str, Any]:
    """``NAME=VALUE`` pairs as settings, checked by their models.

    A value is JSON, a text, several of them with commas between, or ``a=1,b=2``. Hyphens are
    underscores.

    Args:
        pairs: What was typed.
        models: Where settings are looked up, the first model first.
        options: What only an option of the command sets.

    Raises:
        InvalidValueError: A pair of another form, a setting that there is not (the nearest one is
            named), that is given twice, or out of range.

    >>> parse_settings(["timeout=60", "prices=.5,2", "max-retries=2"], ModelConfig)
    {'timeout': 60.0, 'prices': (0.5, 2.0), 'max_retries': 2}
    """
    fields = {
        name.rstrip("_"): (name, model)
        for model in reversed(models)
        for name in (MODEL if model is ModelConfig else model.model_fields)
        if name not in _OPTIONS
    }
    titles = {
        model.model_fields[own].title: name for name, (own, model) in fields.items()
    }
    titles |= {name: f"--{name.replace('_', '-')}" for name in options}
    typed: dict[type[SettingsModel], dict[str, Any]] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals:
            msg = f"--set must be NAME=VALUE, got {pair!r}"
            raise InvalidValueError(msg)
        name = name.strip().replace("-", "_")
        check_names([name], fields, owner="--set", titles=titles)
        own, model = fields[name]
        given = typed.setdefault(model, {})
        if own in given:
            msg = f"--set {name} is given twice; remove one"
            raise InvalidValueError(msg)
        given[own] = value_of(value)
    # Together: some settings go with others.
    return {
        name: getattr(made, name)
        for model, given in typed.items()
        for made in [model(**given)]
        for name in given
    }


def value_of(text: str) -> Any:
    """A value as it was typed: JSON, a text, or several with commas between."""
    for parse in (json.loads, float):  # .5 is no JSON
        with suppress(ValueError):
            value = parse(text)
            return tuple(value) if isinstance(value, list) else value
    parts = text.split(",")
    if all("=" in part for part in parts):
        return {
            name: value_of(of)
            for name, _, of in (part.partition("=") for part in parts)
        }
    return tuple(map(value_of, parts)) if len(parts) > 1 else text.strip()


def take(settings: dict[str, Any], model: type[Model]) -> Model:
    """The settings of one model, taken out of those of several."""
    names = settings.keys() & model.model_fields
    return model(**{name: settings.pop(name) for name in names})


def scoring_of(
    config: Path | None, settings: Mapping[str, Any]
) -> ScoringConfig | None:
    """The settings of a score from a file, under those that were typed; None where there are none."""
    if config is None and not settings:
        return None
    return ScoringConfig(
        **{**(Config.load(config).settings if config else {}), **settings}
    )


def pair_of(text: str | None, option: str) -> tuple[float, float] | None:
    """Two numbers with a comma between them; None where nothing was typed.

    Raises:
        InvalidValueError: It is something else.

    >>> pair_of("1,5", "--human-scale")
    (1, 5)
    """
    found = None if text is None else value_of(text)
    if text is not None and not (
        isinstance(found, tuple)
        and len(found) == 2
        and {*map(type, found)} <= {int, float}
    ):
        msg = f"{option} must be two numbers with a comma between them, e.g. 1,5, got {text!r}"
        raise InvalidValueError(msg)
    return found


def names_of(text: str) -> list[str]:
    """Names with commas between them, without the blanks around them."""
    return [part.strip() for part in text.split(",")]


def renames(pairs: Iterable[str] | None, option: str = "--map") -> dict[str, str]:
    """``YOURS=FIELD`` pairs as a mapping.

    Raises:
        InvalidValueError: A pair of another form.
    """
    found = {}
    for pair in pairs or ():
        own, _, target = pair.rpartition("=")
        if not (own and target):
            msg = f"{option} must be YOURS=FIELD, e.g. my_answer=response, got {pair!r}"
            raise InvalidValueError(msg)
        found[own.strip()] = target.strip()
    return found


def named_judge(judge: str | None) -> str:
    """The judge of a command; where none was named, a note says who judges."""
    if judge is None:
        note(
            f"judge: {DEFAULT}, which only compares words; use --judge openai:MODEL for a model"
        )
    return DEFAULT if judge is None else judge


def plain_settings(
    judge: str | None,
    pairs: Iterable[str] | None,
    *models: type[SettingsModel],
    is_dry: bool = False,
    **given: Any,
) -> dict[str, Any]:
    """The arguments of a scorer as plain values; see `tcva_adapters.scale.settings.made_of`.

    Args:
        judge: Its name; a note says who judges where there is none.
        pairs: See `parse_settings`.
        models: Of the scorer's settings.
        is_dry: Nothing will be asked, so that models need no key.
        given: What has an option of its own; None and empty lists are left out.

    Raises:
        InvalidValueError: See `parse_settings`; settings of a model, and none that they could be for.
    """
    settings = parse_settings(pairs, *models, ModelConfig)
    model: dict[str, Any] = {
        name: settings.pop(name) for name in MODEL if name in settings
    }
    judges = [
        named_judge(judge),
        *(given.get("panel") or ()),
        *(given.get("fuse") or ()),
    ]
    if model and not any(name.startswith("openai:") for name in judges):
        msg = f"--set {next(iter(model))} needs --judge openai:MODEL, got {judges[0]!r}"
        raise InvalidValueError(msg)
    if is_dry:
        model["api_key"] = "none"
    known = {name: value for name, value in given.items() if value not in (None, [])}
    return {
        "judge": judges[0],
        **settings,
        **known,
        **({"model": model} if model else {}),
    }


def with_store(scorer: AnyScorer, store: str | None) -> AnyScorer:
    """A scorer with the store that ``--store`` asks for, which a note names where nobody did."""
    path = DEFAULT_STORE if store is None else Path(store)
    if store == NONE or (store is None and scorer.is_instant):
        return scorer
    if store is None:
        note(f"judgements are cached in {path} (--store none turns this off)")
    return scorer.changed(store=VerdictStore(path))


def silence_frameworks() -> None:
    """Keep the frameworks from phoning home and from reading .env files, before their import."""
    for name, value in NO_TELEMETRY.items():
        os.environ.setdefault(name, value)
