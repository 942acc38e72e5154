"""What judging cost: calls, tokens, seconds and money."""

from __future__ import annotations

from pydantic import (
    BaseModel,
)

from tcva_adapters.samples.sample import FROZEN


class Usage(BaseModel):
    """What an assessment cost. ``cost`` is None where no prices were given."""

    model_config = FROZEN

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    retries: int = 0
    seconds: float = 0.0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        costs = self.cost, other.cost
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            retries=self.retries + other.retries,
            seconds=self.seconds + other.seconds,
            cost=None if costs == (None, None) else sum(filter(None, costs)),
        )
