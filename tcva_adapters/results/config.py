"""The configuration file, which carries settings from `tcva calibrate` to every evaluator."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import Field, ValidationError, model_validator

from tcva_adapters.core.checks import check_names
from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.results.guarantee import AnyGuarantee, read_guarantee
from tcva_adapters.results.scoring import SERVING, ScoringConfig
from tcva_adapters.results.setting_names import value_text
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.file_writing import replacing, usable_path
from tcva_adapters.samples.json_values import Json
from tcva_adapters.samples.sample import Checked, first_fault

CONFIG_VERSION: Final = 2

CONFIG_BEGINNING = re.compile(rb'{\n  "version": \d')
"""How configuration files begin."""


class Config(Checked):
    """Settings, profiles and a guarantee, as a configuration file holds them.

    Attributes:
        version: The version of the layout.
        criterion: The criterion that the settings were chosen for; None where they suit any.
        settings: The given settings of `ScoringConfig`; all others keep the value that they have
            where the file is used.
        profiles: Temperatures by a metadata field.
        provenance: Where the choice comes from (labels, gain, interval); stored, never read.
        guarantee: The guarantee of the settings, if they were chosen for a limit.

    >>> config = Config(settings={"temperature": "strict"}, criterion="faithfulness")
    >>> config.options()
    {'temperature': 0.2, 'criterion': 'faithfulness'}
    """

    version: Literal[2] = CONFIG_VERSION
    criterion: str | None = None
    settings: Json = Field(default_factory=dict)
    profiles: Json | None = None
    provenance: Json | None = None
    guarantee: AnyGuarantee | None = None

    @model_validator(mode="after")
    def _are_known_and_in_range(self) -> Self:
        self.options()
        return self

    @classmethod
    def load(cls, source: Config | str | Path) -> Config:
        """Read a configuration from its file; a `Config` is returned as it is.

        Raises:
            UnreadableInputError: No such file, not JSON, another layout, or an unknown setting.
            InvalidValueError: No file can have this path.
        """
        if isinstance(source, Config):
            return source
        try:
            text = usable_path(source).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise UnreadableInputError(
                f"cannot read the configuration {str(source)!r}: {why}"
            ) from error
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise UnreadableInputError(f"{source}: {first_fault(error)}") from None

    def dump(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the file that `load` reads. Missing folders are made.

        Args:
            path: The file.
            overwrite: Also replace a file that is not a configuration.

        Raises:
            InvalidValueError: The file cannot be written, or was written by something else.
        """
        text = self.model_dump_json(indent=2, exclude_none=True)
        with replacing(path, beginning=CONFIG_BEGINNING, overwrite=overwrite) as stream:
            stream.write(f"{text}\n".encode())

    def options(self) -> Json:
        """The given settings as keyword arguments of `TCVA` and of every drop-in.

        Raises:
            InvalidValueError: A setting is out of range or unknown.
        """
        check_names(self.settings, ScoringConfig.model_fields, owner="a configuration")
        # Any eps fits this floor. The floor that it has to fit is known only where the
        # settings are used.
        checked = TCVASettings(
            **{"floor": "always", **self.settings}, profiles=self.profiles
        )
        options = {
            name: getattr(checked, name) for name in ("profiles", *self.settings)
        }
        options["criterion"] = self.criterion
        if self.guarantee is not None:
            # A new object each time, since it remembers what a run has warned of.
            options["guarantee"] = read_guarantee(self.guarantee.model_dump())
        return {name: value for name, value in options.items() if value is not None}


def merge_options(source: Config | str | Path, overrides: Fields) -> Json:
    """Merge the options of a file with those given in a call, which win.

    A temperature that is given wins over the profiles, too.
    """
    options = Config.load(source).options()
    if "temperature" in overrides:
        options.pop("profiles", None)
    return {**options, **overrides}


class FromConfig:
    """Gives a class that takes the settings of a score a way to be built from a file."""

    @classmethod
    def from_config(cls, source: Config | str | Path, /, **options: object) -> Self:
        """Build an object with the settings and the guarantee of a file that `tcva calibrate` wrote.

        Args:
            source: The file's path, or a `Config`.
            options: Arguments of the class, e.g. the judge; they win over the file, and a
                temperature over its profiles.

        Raises:
            UnreadableInputError: The file cannot be read, or is no configuration.
            InvalidValueError: This class does not take one of the settings, e.g. profiles where
                samples have no metadata.
        """
        return cls(**merge_options(source, options))


def setting_text(scoring: ScoringConfig) -> str:
    """Describe a setting briefly: the temperature, and whatever differs from the default.

    >>> setting_text(ScoringConfig(temperature=0.7, penalty="off"))
    'T=0.7, penalty off'
    """
    parts = [scoring.place]
    for name in ("scheme", "penalty", "floor", "eps", *SERVING):
        value = getattr(scoring, name)
        if value != ScoringConfig.default(name):
            parts.append(f"{name} {value_text(value)}")
    return ", ".join(parts)


def settings_of(scoring: ScoringConfig) -> Json:
    """Convert a setting to plain values, under the names of the configuration file."""
    names = (
        "temperature",
        "threshold",
        "scheme",
        "penalty",
        "floor",
        "eps",
        "evidence",
    )
    settings: Json = {name: getattr(scoring, name) for name in names}
    scheme = scoring.scheme
    settings["scheme"] = (
        list(scheme.weights) if scheme.name == "custom" else scheme.name
    )
    if scoring.bounds != ScoringConfig.default("bounds"):
        settings["bounds"] = asdict(scoring.bounds)
    if scoring.fuse_weights is not None:
        settings["fuse_weights"] = list(scoring.fuse_weights)
    return settings | scoring.model_dump(mode="json", include={*SERVING})
