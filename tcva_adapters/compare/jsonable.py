"""Frozen dataclasses of figures as what ``json.dumps`` takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def jsonable(value: Any) -> Any:
    """Dataclasses and mappings as dicts, sequences and arrays as lists, what is not finite as None.

    >>> jsonable({"rho": float("nan"), "n": 3, "spans": ((0.1, 0.5),)})
    {'rho': None, 'n': 3, 'spans': [[0.1, 0.5]]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
