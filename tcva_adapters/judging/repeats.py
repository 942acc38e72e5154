"""One judge asked several times: what it says each time, and its verdicts together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judging.combining import Several
from tcva_adapters.judging.judge import Judge
from tcva_adapters.judging.panel import Panel
from tcva_adapters.models.protocol import JudgeModel

REPEAT_TEMPERATURE: Final = 0.7
"""The model's temperature in repeats where it has none above 0: at 0 all of them are the same."""


_AS_GOOD_AS_0: Final = 0.01
"""RAGAS asks at this one in place of 0."""


class Repeats(Several):
    """Independent judgements of one judge, as one judge: a claim gets the shares of their verdicts.

    Each repeat is a judgement of its own: it is cached under its own key and shared with no other.
    Repeat ``i``, from 0 up, adds ``i`` to the model's seed. A model whose temperature is above
    0.01 keeps it, any other is asked at `REPEAT_TEMPERATURE`. An LLM object that follows neither is asked
    again as it is. Repeats show and average out what a judge says at random; what it always gets
    wrong they repeat.

    Args:
        judge: A model as judge, or a panel with at least one.
        number: How many, from 2 up.

    Raises:
        InvalidValueError: The judge always says the same, makes claims of its own
            (``claims="llm"``), or cannot be asked otherwise.
    """

    kind = "repeats"

    def __init__(self, judge: Judge, number: int) -> None:
        super().__init__([_repeat(judge, each, number) for each in range(number)], "fused", 1)
        self.judge = judge

    @property
    def name(self) -> str:
        """The judge's name, and how often it is asked."""
        return f"repeats({self.judge.name}, {len(self.judges)})"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Those of the first repeat, and how many there are."""
        return {**self.judges[0].parameters, "repeats": len(self.judges)}


def _repeat(judge: Judge, place: int, number: int) -> Judge:
    # Imported here, as in `resolve_judge`.
    from tcva_adapters.judging.model_judge import ModelJudge  # noqa: PLC0415  # see above

    if isinstance(judge, Panel) and not judge.is_local:
        members = [each if each.is_local else _repeat(each, place, number) for each in judge.judges]
        return Panel(members, combine=judge.combine, least=judge.least)
    if isinstance(judge, ModelJudge):
        if judge.claims != "split":
            msg = (
                f"repeats={number} with claims={judge.claims!r}: each repeat would make claims of "
                "its own, and verdicts on different claims cannot be joined; use claims='split'"
            )
            raise InvalidValueError(msg)
        temperature = _temperature(judge.model)
        return replace(judge, repeat=place, repeat_temperature=temperature)
    why = (
        "it computes, and says the same each time"
        if judge.is_local
        else "only a model can be asked again in another way"
    )
    msg = f"repeats={number} of {judge.name}: {why}; leave repeats out, or judge by a model"
    raise InvalidValueError(msg)


def _temperature(model: JudgeModel) -> float | None:
    """What a repeat sets; None where the model's own stays in force."""
    own = model.parameters.get("temperature")
    keeps = not getattr(model, "follows_sampling", False)
    return (
        None
        if keeps or (isinstance(own, int | float) and own > _AS_GOOD_AS_0)
        else REPEAT_TEMPERATURE
    )
