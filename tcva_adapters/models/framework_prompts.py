"""Send prompts of other packages to a judge model, and count calls, costs and failures.

The frameworks' own metrics write their prompts themselves. Each adapter's ``llm`` module makes that
framework's kind of LLM out of a `PromptedModel`, so that calls, tokens, retries and failures are counted
in one place whatever the framework.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pydantic import BaseModel, ValidationError

from tcva_adapters.errors import JudgeError
from tcva_adapters.models import judge_model
from tcva_adapters.models.reply_json import after_reasoning, json_values
from tcva_adapters.results.judgement import Usage

Shape = type[BaseModel] | None
"""The class of the object that is asked for; None for text."""

_NOT_STRICT = frozenset({"title", "default", "examples"})
"""Keys of a schema that strict modes refuse, or that only cost tokens."""


class PromptedModel:
    """A judge model that is given prompts as they are, without the sample behind them.

    A request without a schema is a request for plain text, and one without instructions is the
    prompt alone.

    Args:
        model: The model that answers.

    Attributes:
        model: The same.
        usage: The cost of all calls so far; seconds are those spent waiting for the model.
        failures: How often no text came, or none that could be read as the object asked for.
        fatal: The failure after which no call can succeed; None as long as there was none.
    """

    def __init__(self, model: judge_model.JudgeModel) -> None:
        self.model = model
        self.usage = Usage()
        self.failures = 0
        self.fatal: JudgeError | None = None
        self._lock = threading.Lock()

    def ask(
        self,
        prompt: str,
        shape: Shape = None,
        *,
        system: str = "",
    ) -> Any:
        """Call the model with a prompt, and return its answer as text or as an object.

        Args:
            prompt: The prompt.
            shape: The class of the object, whose schema is sent along; None for text.
            system: The instructions.

        Raises:
            JudgeError: No text came, or none that holds such an object (``unreadable_reply``).
        """
        with self._counted() as replies:
            replies.append(
                judge_model.complete(self.model, _request(prompt, shape, system))
            )
            return self._read(replies[0], shape)

    async def aask(
        self,
        prompt: str,
        shape: Shape = None,
        *,
        system: str = "",
    ) -> Any:
        """The same, awaited.

        Raises:
            JudgeError: As for `ask`.
        """
        with self._counted() as replies:
            replies.append(
                await judge_model.acomplete(self.model, _request(prompt, shape, system))
            )
            return self._read(replies[0], shape)

    @contextmanager
    def _counted(self) -> Iterator[list[judge_model.ModelReply]]:
        """Count the cost and the failure of one call, whose reply the block puts into the list."""
        replies: list[judge_model.ModelReply] = []
        started = time.perf_counter()
        try:
            yield replies
        except JudgeError as error:
            self.failures += 1
            if error.fatal:
                self.fatal = error
            raise
        finally:
            reply = replies[0] if replies else judge_model.ModelReply("")
            with self._lock:
                self.usage += reply.usage(time.perf_counter() - started)

    def _read(self, reply: judge_model.ModelReply, shape: Shape) -> Any:
        if shape is None:
            return reply.text
        why = "was cut off"
        if not reply.truncated:
            answer = read_object(reply.text, shape)
            if answer is not None:
                return answer
            why = f"contains no valid {shape.__name__}"
        start = " ".join(reply.text.split())[:80]
        raise JudgeError(
            f"the reply of {self.model.name} {why}: {start!r}",
            reason="unreadable_reply",
        )


def read_object(text: str, shape: type[BaseModel]) -> Any:
    """The first object of this shape in a reply; None where there is none.

    Reasoning, code fences and other text around it do not matter, and broken JSON is repaired. An
    object that was cut off does not count, since the missing part could have changed a score.

    >>> class Grade(BaseModel):
    ...     verdict: int
    >>> read_object('Let me see: ```json {"verdict": 1} ```', Grade)
    Grade(verdict=1)
    """
    for node in json_values(text, after_reasoning(text)[0]):
        if isinstance(node.value, dict) and not node.is_cut:
            with suppress(ValidationError):
                return shape.model_validate(node.value)
    return None


def _request(
    prompt: str,
    shape: Shape,
    system: str,
) -> judge_model.JudgeRequest:
    if shape is None:
        return judge_model.JudgeRequest(system, prompt, {}, "")
    return judge_model.JudgeRequest(
        system, prompt, _strict(shape.model_json_schema()), shape.__name__
    )


def _strict(schema: Any) -> Any:
    """Convert a schema for strict modes: closed objects, every property required."""
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:  # may have no neighbours
        return {"$ref": schema["$ref"]}
    strict = {
        key: _strict(value)
        for key, value in schema.items()
        if key not in _NOT_STRICT or isinstance(value, dict)  # a property of that name
    }
    return (
        strict | judge_model.closed_object(strict["properties"])
        if "properties" in strict
        else strict
    )
