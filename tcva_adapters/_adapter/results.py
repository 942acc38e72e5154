"""Carry a result in objects of frameworks, and find it in them."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Self

from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.judges.lexical import A_CHARACTER
from tcva_adapters.loops import work_aside
from tcva_adapters.result_reader import read_result
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.results.protocol import Scored, is_result
from tcva_adapters.results.result import Result
from tcva_adapters.runner.questions import R
from tcva_adapters.samples.contexts import value_of
from tcva_adapters.samples.json_values import Json, json_object

_DEEPEST = 3
"""The most levels on which results are looked for: a run holds feedback, which holds metadata."""


class Carrier:
    """A score as an object of a framework, with the result behind it.

    Attributes:
        result: A `Result` for a `TCVA`; every kind has settings of its own, hence Any.
    """

    result: Any

    @property
    def claims(self) -> tuple[ClaimVerdict, ...]:
        """The claims with verdict, evidence and reason, non-claims included."""
        claims: tuple[ClaimVerdict, ...] = self.result.claims
        return claims

    def at(self, *temperature: float | str, **changes: Any) -> Self:
        """Score the same verdicts under other settings, as ``at`` of the result does; makes no call.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        return self._with_result(self.result.at(*temperature, **changes))

    @abstractmethod
    def _with_result(self, result: Scored) -> Self:
        """Return such an object for another result."""


def views_of(result: Scored) -> Json:
    """Return a result's citations and passages as JSON values, where these are known.

    They are where the result refers to its sample, and sentences of it were judged against contexts.
    """
    views: Json = {}
    with suppress(InvalidValueError):
        if isinstance(result, Result) and (uses := result.passages()):
            views["passages"] = [*map(vars, uses)]
            if (citations := result.citations()).parts:
                views["citations"] = citations.to_dict()
    return json_object(json.dumps(views))


async def with_views(result: R) -> R:
    """Return a result, after its quotes were looked up for `views_of` without holding up the event loop."""
    sample = getattr(result, "sample", None)
    contexts = sample.field("contexts") if sample else None
    await work_aside(partial(views_of, result), A_CHARACTER * len(contexts or ""))
    return result


def find_result(stored: object, places: Sequence[str]) -> Any:
    """Find the result in an object that a framework carries or stores.

    Args:
        stored: A result, its plain data, or an object or a mapping that holds one in these places,
            or in these places of what is there; also as JSON.
        places: Names of attributes and keys.

    Raises:
        UnreadableInputError: There is no result in it, or one that cannot be read.
    """
    holders = [json_object(stored) if isinstance(stored, str | bytes) else stored]
    for _ in range(_DEEPEST):
        for holder in holders:
            if is_result(holder):
                return holder
            if isinstance(holder, Mapping) and {"scoring", "answers"} & holder.keys():
                return read_result(holder)
        holders = [value_of(holder, place) for holder in holders for place in places]
    names = [*stored] if isinstance(stored, Mapping) else stored
    raise UnreadableInputError(f"no result of tcva-adapters found in {names!r:.200}")


def choose_metric(
    wanted: str | None,
    ours: Sequence[str],
    others: Iterable[str],
    *,
    argument: str,
) -> str:
    """Choose the name of the metric to read.

    Args:
        wanted: The name that was passed; None for the only one.
        ours: The names of TCVA metrics.
        others: The other names in the evaluation.
        argument: The argument that passes a name.

    Raises:
        InvalidValueError: There is no TCVA metric, or none of this name; or there are several and
            no name was passed.

    >>> choose_metric(None, ["tcva_faithfulness"], [], argument="metric")
    'tcva_faithfulness'
    """
    if wanted in ours or (wanted is None and len(ours) == 1):
        return wanted or ours[0]
    known = ", ".join(map(repr, ours))
    if not ours:
        msg = f"the evaluation has no metric of tcva-adapters (has: {', '.join(others) or 'none'})"
    elif wanted is None:
        msg = f"the evaluation has several metrics of tcva-adapters; pass {argument}=, one of {known}"
    else:
        msg = f"{argument} must be one of {known}, got {wanted!r}"
    raise InvalidValueError(msg)
