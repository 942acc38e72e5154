"""A small file that carries a choice of settings from `tcva calibrate` to every other place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Self

from pydantic import Field, ValidationError, model_validator

from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.results.settings import ScoringConfig, TCVASettings, check_names
from tcva_adapters.samples.output import replacing, usable_path
from tcva_adapters.samples.sample import Checked, first_fault

CONFIG_VERSION: Final = 2

OURS: Final = re.compile(rb'{\n  "version": \d')
"""How configuration files begin."""


class Config(Checked):
    """Settings and profiles, as a file keeps them.

    Attributes:
        version: Of the layout.
        criterion: What they were chosen for; None where they suit any.
        settings: Those of `ScoringConfig` that are given; all others keep the value of where the
            settings are used.
        profiles: Temperatures by a metadata field.
        provenance: Where the choice comes from (labels, gain, interval); kept, never read.

    >>> config = Config(settings={"temperature": "strict"}, criterion="faithfulness")
    >>> config.options()
    {'criterion': 'faithfulness', 'temperature': 0.2}
    """

    version: Literal[2] = CONFIG_VERSION
    criterion: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    profiles: dict[str, Any] | None = None
    provenance: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _are_known_and_in_range(self) -> Self:
        self.options()
        return self

    @classmethod
    def load(cls, source: Config | str | Path) -> Config:
        """A configuration as it is, or from its file.

        Raises:
            UnreadableInputError: No such file, not JSON, another layout, or an unknown setting.
            InvalidValueError: No file can have this path.
        """
        if isinstance(source, Config):
            return source
        try:
            text = usable_path(source).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            msg = f"the configuration {str(source)!r} cannot be read: {error}"
            raise UnreadableInputError(msg) from error
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            msg = f"{source}: {first_fault(error)} (layout {CONFIG_VERSION})"
            raise UnreadableInputError(msg) from None

    def dump(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the file that `load` reads. Missing folders are made.

        Args:
            path: The file.
            overwrite: Take the place of a file that is no configuration, too.

        Raises:
            InvalidValueError: The file cannot be written, its name is that of another format, or it
                was written by something else.
        """
        if Path(path).suffix.lower() not in {"", ".json"}:
            msg = (
                f"cannot write {path}: settings are written as json; name a file that ends in .json"
            )
            raise InvalidValueError(msg)
        text = self.model_dump_json(indent=2, exclude_none=True)
        with replacing(path, ours=OURS, overwrite=overwrite) as stream:
            stream.write(f"{text}\n".encode())

    def given(self) -> dict[str, Any]:
        """The settings that are given, as keyword arguments of `ScoringConfig`.

        Raises:
            InvalidValueError: One of them is out of range or unknown.
        """
        check_names(self.settings, ScoringConfig.model_fields, of="a configuration")
        # Any eps goes with this floor; which one it meets shows where the settings are used.
        found = ScoringConfig(**{"floor": "always", **self.settings})
        return {name: getattr(found, name) for name in self.settings}

    def options(self) -> dict[str, Any]:
        """As keyword arguments of `TCVA` and of every drop-in; only what is given.

        Raises:
            InvalidValueError: A setting is out of range or unknown.
        """
        options = self.given()
        ends = {name: options[name] for name in ("bounds",) if name in options}
        profiles = TCVASettings(profiles=self.profiles, **ends).profiles
        more = {"criterion": self.criterion, "profiles": profiles}
        return {**{name: value for name, value in more.items() if value is not None}, **options}


def configured(source: Config | str | Path, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments that a file stands for, under those that are given in the call.

    A temperature that is given wins over the profiles, too.
    """
    options = Config.load(source).options()
    if "temperature" in overrides:
        options.pop("profiles", None)
    return {**options, **overrides}


class FromConfig:
    """Gives a class that takes the settings of a score a way to be built from a file.

    Attributes:
        sees_metadata: Whether its samples have metadata, which profiles go by.
    """

    sees_metadata: ClassVar[bool] = True

    @classmethod
    def from_config(cls, source: Config | str | Path, /, **options: Any) -> Self:
        """Built with the settings of a file that `tcva calibrate` wrote.

        Args:
            source: The file's path, or a `Config`.
            options: Arguments of the class, e.g. the judge; they win over the file, and a
                temperature over its profiles.

        Raises:
            UnreadableInputError: The file cannot be read, or is no configuration.
            InvalidValueError: There are profiles, and the samples of this class have no metadata to
                tell them by.
        """
        given = configured(source, options)
        if not cls.sees_metadata and given.get("profiles"):
            ((field, values),) = given["profiles"].items()
            listed = ", ".join(f"{value}: {temperature:g}" for value, temperature in values.items())
            msg = f"samples of {cls.__name__} carry no {field!r}; give temperature=... ({listed})"
            raise InvalidValueError(msg)
        return cls(**given)
