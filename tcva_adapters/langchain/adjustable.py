"""Runnables whose settings may be changed after they were built, and are then followed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy, deepcopy
from typing import Any, Self

from langchain_core.runnables import RunnableSerializable
from langchain_core.runnables.utils import Input, Output

from tcva_adapters.errors import InvalidValueError


class AdjustableRunnable(RunnableSerializable[Input, Output]):
    """Every setting is an attribute. Setting one, or copying with changes, is checked as when built.

    A class below this one builds what it works with out of its fields, in its constructor.
    """

    @classmethod
    @abstractmethod
    def _builder(cls) -> type[AdjustableRunnable[Input, Output]]:
        """The class whose constructor takes the settings, whatever users derive from it."""

    @abstractmethod
    def _shared(self) -> tuple[Any, ...]:
        """What copies go on using: clients and stores hold locks and connections."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._builder().model_fields:
            self._adopt({name: value})
        else:
            super().__setattr__(name, value)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        memo = {} if memo is None else memo
        memo |= {id(each): each for each in self._shared()}
        return super().__deepcopy__(memo)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, in which the settings of `update` are changed.

        The copy shares client and store, also a deep one.

        Raises:
            InvalidValueError: A setting is out of range or unknown.
        """
        changes = dict(update or {})
        known = type(self).model_fields
        if unknown := changes.keys() - known:
            msg = f"unknown setting {min(unknown)!r}; settings are {', '.join(known)}"
            raise InvalidValueError(msg)
        copied = deepcopy(self) if deep else copy(self)
        for name in changes.keys() - self._builder().model_fields.keys():  # of a subclass
            setattr(copied, name, changes.pop(name))
        copied._adopt(changes)  # noqa: SLF001  # of this class
        return copied

    def copy(self, **options: Any) -> Self:
        """Pydantic's older name of `model_copy`."""
        return self.model_copy(**options)

    def _adopt(self, changes: Mapping[str, Any]) -> None:
        """Become what one built with these changes is; stay as it is where they are refused."""
        builder = self._builder()
        settings = {name: vars(self)[name] for name in builder.model_fields}
        built = builder(**{**settings, **changes})
        vars(self).update(vars(built))
        for name in builder.__private_attributes__:
            setattr(self, name, getattr(built, name))
