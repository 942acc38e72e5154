"""A small file that carries a choice of settings from `tcva calibrate` to every other place.

It holds the dial's settings, a mapping from scores to a human scale where one was fitted, and
profiles where one suite needs several strictnesses: ``domain: medical`` strict, ``domain: chat``
lenient.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self

from pydantic import ConfigDict, ValidationError, field_validator, model_validator
from typing_extensions import Unpack  # as pydantic reads it

from tcva_adapters.core.temperature import PAPER_BOUNDS, check_temperature
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.results.scoring import DIAL, DialSettings, HumanScale, Profiles
from tcva_adapters.results.settings import check_names
from tcva_adapters.samples.checked import Checked, first_fault
from tcva_adapters.samples.output import replacing, usable_path

CONFIG_VERSION: Final = 1

OURS: Final = re.compile(rb'{\n  "version": \d')
"""How configuration files begin."""

_IN_FILES: Final = [name for name, setting in DIAL.items() if setting.in_files]


class Settings(Checked):
    """Settings of the dial; what is not given keeps the value of where the settings are used.

    >>> Settings(temperature="strict").given()
    {'temperature': 0.2}
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    def __init__(self, **given: Unpack[DialSettings]) -> None:
        super().__init__(**given)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Each setting that is given, as an attribute."""

    @model_validator(mode="after")
    def _are_known_and_in_range(self) -> Self:
        self.given()
        return self

    def given(self) -> dict[str, Any]:
        """The settings that are given, as keyword arguments of `Scoring`.

        Raises:
            InvalidValueError: One of them is out of range or unknown.
        """
        given = {name: v for name, v in (self.model_extra or {}).items() if v is not None}
        check_names(given, _IN_FILES, of="a configuration")
        checked = {name: DIAL[name].check(name, value) for name, value in given.items()}
        if "temperature" in checked:
            check_temperature(checked["temperature"], checked.get("bounds", PAPER_BOUNDS))
        return checked


class MappingKnots(Checked):
    """Points of a rising line from scores to a human scale."""

    x: tuple[float, ...]
    y: tuple[float, ...]


class ProfileTable(Checked):
    """Settings by the value of a metadata field.

    Attributes:
        by: The field.
        values: Its values, each with the settings that differ there.
    """

    by: str
    values: dict[str, Settings]


class Config(Checked):
    """Settings, profiles and a mapping, as a file keeps them.

    Attributes:
        version: Of the layout.
        criterion: What they were chosen for; None where they suit any.
        settings: For every sample without a profile of its own.
        mapping: From scores to the human scale.
        profiles: Settings for some of the samples.
        provenance: Where the choice comes from (labels, gain, interval); kept, never read.

    >>> config = Config(settings=Settings(temperature=0.7), criterion="faithfulness")
    >>> config.options()
    {'criterion': 'faithfulness', 'temperature': 0.7}
    """

    version: Literal[1] = CONFIG_VERSION
    criterion: str | None = None
    settings: Settings = Settings()
    mapping: MappingKnots | None = None
    profiles: ProfileTable | None = None
    provenance: dict[str, Any] | None = None

    @field_validator("provenance")
    @classmethod
    def _json_only(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        json.dumps(value)
        return value

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
            config = cls.model_validate_json(text)
            config.options()
        except ValidationError as error:
            msg = f"{source}: {first_fault(error)} (layout {CONFIG_VERSION})"
            raise UnreadableInputError(msg) from None
        except InvalidValueError as error:
            msg = f"{source}: {error}"
            raise UnreadableInputError(msg) from error
        return config

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
        kept = self.model_dump(mode="json", exclude_none=True)
        with replacing(path, ours=OURS, overwrite=overwrite) as stream:
            stream.write(f"{json.dumps(kept, indent=2, ensure_ascii=False)}\n".encode())

    def options(self, profile: str | None = None) -> dict[str, Any]:
        """As keyword arguments of `TCVA` and of every drop-in; only what is given.

        Args:
            profile: A profile's settings in place of all profiles.

        Raises:
            InvalidValueError: A setting is out of range or unknown, or there is no such profile.
        """
        options = self.settings.given()
        if self.criterion is not None:
            options = {"criterion": self.criterion, **options}
        if self.mapping is not None:
            options["mapping"] = HumanScale(self.mapping.x, self.mapping.y)
        if profile is not None:
            known = {} if self.profiles is None else self.profiles.values
            if profile not in known:
                names = ", ".join(known) or "none"
                msg = f"no profile {profile!r} in this configuration; there are: {names}"
                raise InvalidValueError(msg)
            options |= known[profile].given()
        elif self.profiles is not None:
            values = {value: s.given() for value, s in self.profiles.values.items()}
            options["profiles"] = Profiles(self.profiles.by, values)
        return options


def configured(
    source: Config | str | Path, overrides: Mapping[str, Any], profile: str | None = None
) -> dict[str, Any]:
    """The keyword arguments that a file stands for, under those that are given beside it.

    What is given beside it wins over the settings of its profiles, too.
    """
    options = Config.load(source).options(profile)
    if "profiles" in options:
        profiles: Profiles = options["profiles"]
        kept = {
            value: {name: chosen for name, chosen in settings.items() if name not in overrides}
            for value, settings in profiles.values.items()
        }
        options["profiles"] = Profiles(profiles.by, kept)
    return {**options, **overrides}


class FromConfig:
    """Gives a class that takes the dial's options a way to be built from a file.

    Attributes:
        sees_metadata: Whether its samples have metadata, which profiles go by.
    """

    sees_metadata: ClassVar[bool] = True

    @classmethod
    def from_config(
        cls, source: Config | str | Path, /, *, profile: str | None = None, **options: Any
    ) -> Self:
        """Built with the settings of a file that `tcva calibrate` wrote.

        Args:
            source: The file's path, or a `Config`.
            profile: One profile's settings for every sample, whatever its metadata.
            options: Arguments of the class, e.g. the judge; they win over the file and over its
                profiles.

        Raises:
            UnreadableInputError: The file cannot be read, or is no configuration.
            InvalidValueError: There is no such profile; or there are several, the samples of this
                class have no metadata to tell them by, and none was named.
        """
        given = configured(source, options, profile)
        if not cls.sees_metadata and "profiles" in given:
            names = ", ".join(given["profiles"].values)
            msg = (
                f"samples of {cls.__name__} carry no {given['profiles'].by!r}; build one for each "
                f"profile with profile=..., one of {names}"
            )
            raise InvalidValueError(msg)
        return cls(**given)
