"""A judge model whose calls are timed, to find out what it costs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tcva_adapters.models.protocol import JudgeModel, ModelReply, identity_of_model
from tcva_adapters.models.request import JudgeRequest
from tcva_adapters.sharing import Identity


class Call(NamedTuple):
    """A call that was answered; ``seconds`` is how long that took."""

    request: JudgeRequest
    reply: ModelReply
    seconds: float


@dataclass
class Metered:
    """The same model, for one thread.

    Attributes:
        model: Who answers.
        calls: What was asked and answered, in order.
    """

    model: JudgeModel
    calls: list[Call] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The model's."""
        return self.model.name

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The model's."""
        return self.model.parameters

    @property
    def identity(self) -> Identity:
        """The model's."""
        return identity_of_model(self.model)

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request.

        Raises:
            JudgeError: As the model does.
        """
        started = time.perf_counter()
        reply = self.model.complete(request)
        self.calls.append(Call(request, reply, time.perf_counter() - started))
        return reply

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """The same, awaited.

        Raises:
            JudgeError: As the model does.
        """
        started = time.perf_counter()
        reply = await self.model.acomplete(request)
        self.calls.append(Call(request, reply, time.perf_counter() - started))
        return reply
