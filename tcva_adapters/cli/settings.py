"""Turn typed text into settings: ``--set``, ``--human``, pairs, judges and stores."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from tcva_adapters.cli.options import Texts
from tcva_adapters.console import note
from tcva_adapters.core.checks import check_names
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.evaluator import AnyScorer
from tcva_adapters.frameworks import NO_TELEMETRY
from tcva_adapters.judges.resolve import DEFAULT
from tcva_adapters.results.config import Config
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.settings import ModelConfig
from tcva_adapters.results.settings_base import SettingsModel
from tcva_adapters.results.store import VerdictStore

OneScorer = TypeVar("OneScorer", bound=AnyScorer)
Model = TypeVar("Model", bound=SettingsModel)

PlainSettings: TypeAlias = dict[str, Any]
"""Settings by name as plain values: numbers, texts, and several of these."""

DEFAULT_STORE = Path(".tcva/verdicts.sqlite")
NONE = "none"

MODEL = ("timeout", "max_retries", "requests_per_minute", "prices", "max_tokens")
"""Settings of a model that ``--set`` takes; its server and key come from the environment."""

_OPTIONS = frozenset({"share", "store", "fuse", "guarantee"})
"""Settings that have an option of their own, or none."""


def parse_settings(
    pairs: Texts,
    *models: type[SettingsModel],
    options: Iterable[str] = (),
) -> PlainSettings:
    """Read ``NAME=VALUE`` pairs as settings, checked by their models.

    A value is JSON, a text, several of them with commas between, or ``a=1,b=2``. Hyphens are
    underscores.

    Args:
        pairs: The typed pairs.
        models: Where settings are looked up, the first model first.
        options: Settings that only an option of the command sets.

    Raises:
        InvalidValueError: A pair has another form; a setting is unknown (the message names the
            nearest one), given twice, or out of range.

    >>> parse_settings(["timeout=60", "prices=.5,2", "max-retries=2"], ModelConfig)
    {'timeout': 60.0, 'prices': (0.5, 2.0), 'max_retries': 2}
    """
    fields = {}
    titles: dict[str | None, str] = {
        name: f"--{name.replace('_', '-')}" for name in (*options, "human_scale")
    }
    for model in reversed(models):
        for field in MODEL if model is ModelConfig else model.model_fields:
            if field not in _OPTIONS:
                name = field.rstrip("_")
                fields[name] = field, model
                titles[model.model_fields[field].title] = name
    typed: dict[type[SettingsModel], PlainSettings] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals:
            raise InvalidValueError(f"--set must be NAME=VALUE, got {pair!r}")
        name = name.strip().replace("-", "_")
        check_names([name], fields, owner="--set", titles=titles)
        field, model = fields[name]
        values = typed.setdefault(model, {})
        if field in values:
            raise InvalidValueError(f"--set {name} is given twice; remove one")
        values[field] = value_of(value)

    settings: PlainSettings = {}
    for model, values in typed.items():
        checked = model(**values)  # together: some settings go with others
        settings |= {field: getattr(checked, field) for field in values}
    return settings


def value_of(text: str) -> Any:
    """Read a typed value: JSON, a text, several with commas between, or ``a=1,b=2``."""
    for parse in (json.loads, float):  # .5 is no JSON
        with suppress(ValueError):
            value = parse(text)
            return tuple(value) if isinstance(value, list) else value
    parts = text.split(",")
    if all("=" in part for part in parts):
        return {
            name: value_of(value)
            for name, value in (part.split("=", 1) for part in parts)
        }
    return tuple(map(value_of, parts)) if len(parts) > 1 else text.strip()


def take(settings: PlainSettings, model: type[Model]) -> Model:
    """Remove the settings of one model from those of several, and build the model."""
    names = settings.keys() & model.model_fields
    return model(**{name: settings.pop(name) for name in names})


def scoring_of(config: Path | None, settings: PlainSettings) -> ScoringConfig | None:
    """Read the settings of a score from a file; typed ones win over it. None if there are neither."""
    if config is None:
        return ScoringConfig(**settings) if settings else None
    return ScoringConfig(**{**Config.load(config).settings, **settings})


def scale_of(text: str | None) -> tuple[float, float] | None:
    """Read the two numbers of ``--human-scale``; None if nothing was typed.

    Raises:
        InvalidValueError: It is something else.

    >>> scale_of("1,5")
    (1, 5)
    """
    if text is None:
        return None
    match value_of(text):
        case (bool(), _) | (_, bool()):
            pass
        case (int() | float() as lowest, int() | float() as highest):
            return lowest, highest
    raise InvalidValueError(
        f"--human-scale must be two numbers with a comma between them, e.g. 1,5, got {text!r}"
    )


def names_of(text: str) -> list[str]:
    """Split names at commas, and strip the blanks around them."""
    return [part.strip() for part in text.split(",")]


def renames(pairs: Texts) -> dict[str, str]:
    """Read ``YOURS=FIELD`` pairs as a mapping.

    Raises:
        InvalidValueError: A pair has another form.
    """
    mapping = {}
    for pair in pairs or ():
        name, _, field = pair.rpartition("=")
        if not (name and field):
            raise InvalidValueError(
                f"--map must be YOURS=FIELD, e.g. my_answer=response, got {pair!r}"
            )
        mapping[name.strip()] = field.strip()
    return mapping


def plain_settings(
    judge: str | None,
    pairs: Texts,
    *models: type[SettingsModel],
    is_dry: bool = False,
    **options: object,
) -> PlainSettings:
    """The arguments of a scorer as plain values; see `tcva_adapters.scale.settings.make_scorer`.

    Args:
        judge: The judge's name; without one the lexical judge is used, and a note says so.
        pairs: See `parse_settings`.
        models: The models of the scorer's settings.
        is_dry: No model will be called, so models need no key.
        options: Settings with an option of their own; None and empty lists are left out.

    Raises:
        InvalidValueError: See `parse_settings`; or there are settings of a model, and no judge
            that is a model.
    """
    settings = parse_settings(pairs, *models, ModelConfig)
    model = {name: settings.pop(name) for name in MODEL if name in settings}
    if judge is None:
        judge = DEFAULT
        note(
            f"judge: {judge}, which only compares words; use --judge openai:MODEL for a model"
        )
    settings |= {
        name: value for name, value in options.items() if value not in (None, [])
    }
    judges = [judge, *settings.get("panel", ()), *settings.get("fuse", ())]
    if model and not any(name.startswith("openai:") for name in judges):
        raise InvalidValueError(
            f"--set {next(iter(model))} needs --judge openai:MODEL, got {judge!r}"
        )
    if is_dry:
        model["api_key"] = "none"
    if model:
        settings["model"] = model
    return {"judge": judge, **settings}


def with_store(scorer: OneScorer, store: str | None) -> OneScorer:
    """Return the scorer with the store of ``--store``; a note names the default store."""
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
