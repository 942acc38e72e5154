"""What a judge model is: something with a name that answers one request, sync or async."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from tcva_adapters.judging.prompts import JudgeRequest

__all__ = ["JSON", "JudgeModel", "ModelReply", "TokenLogprob"]

type_JSON = "str | int | float | bool | None | list[JSON] | dict[str, JSON]"
