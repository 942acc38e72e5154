"""The protocol of judge models: a request, a reply, and a model that answers in two ways."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.call_errors import as_judge_error
from tcva_adapters.models.secrets import mask
from tcva_adapters.results.judgement import Usage
from tcva_adapters.samples.json_values import Json
from tcva_adapters.samples.sample import whole_characters

_LOG = logging.getLogger(__name__)
_MAX_TOKENS = 10**12
"""No call takes more; a larger number is an error of the server."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is drawn, where that differs from the model's own settings.

    Attributes:
        max_tokens: Limit of the reply's length.
        top_logprobs: The number of alternatives of each token to ask for.
        temperature: The sampling temperature, 0 to 2; not that of the score.
        seed_offset: Added to the model's seed, where it has one.
    """

    max_tokens: int | None = None
    top_logprobs: int | None = None
    temperature: float | None = None
    seed_offset: int = 0


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A request to a judge model.

    Attributes:
        system: The instructions, the same for every sample of a criterion.
        user: The sample between delimiters, and what is to be done now.
        schema: JSON schema of the reply, fit for strict modes; empty where plain text is asked for.
        schema_name: A name for the schema, for services that want one.
        sampling: How the reply is drawn; None leaves everything to the model's settings.
    """

    system: str
    user: str
    schema: Json
    schema_name: str
    sampling: Sampling | None = None


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One token of a reply with the alternatives that the model weighed at its place.

    Attributes:
        token: The text of the token as it stands in the reply.
        logprob: Natural logarithm of its probability, at most 0.
        top: The likeliest tokens at this place with their log probabilities, likeliest first;
            empty where the server gave none.
    """

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The answer of a model, and what it cost.

    Attributes:
        text: The reply without the model's separate reasoning; never None.
        input_tokens: Tokens of all prompts sent for this reply; 0 where the server does not say.
        output_tokens: Tokens written for this reply; 0 where the server does not say.
        retries: Requests sent beyond the first one, for whatever reason.
        truncated: True when the token limit cut the reply off.
        model: The model's name as the server gives it, often with a date.
        cost: In the currency of the prices; None where no prices were given.
        token_logprobs: The tokens of `text` with their alternatives; None where not asked for or
            not given.
    """

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    retries: int = 0
    truncated: bool = False
    model: str = ""
    cost: float | None = None
    token_logprobs: tuple[TokenLogprob, ...] | None = None

    def usage(self, seconds: float) -> Usage:
        """The usage of one call; impossible numbers of tokens count as 0, impossible costs as None."""
        cost = self.cost
        is_sound = (
            isinstance(cost, int | float)
            and not isinstance(cost, bool)
            and 0.0 <= cost <= _MAX_TOKENS
        )
        return Usage(
            calls=1,
            input_tokens=as_count(self.input_tokens),
            output_tokens=as_count(self.output_tokens),
            retries=as_count(self.retries),
            seconds=seconds,
            cost=cost if is_sound else None,
        )


def as_count(value: object) -> int:
    """Read a server's number of tokens or calls; 0 for an impossible one.

    >>> as_count(7), as_count(-7), as_count(10**400), as_count("7"), as_count(None)
    (7, 0, 0, 0, 0)
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 <= value <= _MAX_TOKENS else 0
    return 0


@runtime_checkable
class JudgeModel(Protocol):
    """A language model as the judge sees it: one request in, one text out.

    Both methods raise when no text came (a `JudgeError`, or an error that the function `complete`
    turns into one), and may be used from several threads and event loops at once.
    """

    @property
    def name(self) -> str:
        """The name that assessments and store keys carry, e.g. ``openai:gpt-4.1-mini``."""

    @property
    def parameters(self) -> Mapping[str, object]:
        """Everything besides the name that can change a reply, as JSON values.

        Part of the store key; never holds a secret.
        """

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request.

        Raises:
            JudgeError: No text came; its ``reason`` and ``fatal`` say why and whether to go on.
        """

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request without blocking the event loop.

        Raises:
            JudgeError: No text came; its ``reason`` and ``fatal`` say why and whether to go on.
        """


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of a judge or model, which decides whether two are the same.

    Attributes:
        holder: The object that judges.
        equal: What judges that were made from a name have in common (class, model, address,
            settings, a digest of the key); None where only the same object is the same judge.
        seconds: The longest that one call may take; None where that is not known.
    """

    holder: object
    equal: Hashable | None = None
    seconds: float | None = None


def identity_of(judge: object) -> Identity:
    """Return the identity of a judge or model.

    It is its attribute ``identity``; an object without one is the same as itself alone.
    """
    identity = getattr(judge, "identity", None)
    return identity if isinstance(identity, Identity) else Identity(judge)


def complete(model: JudgeModel, request: JudgeRequest) -> ModelReply:
    """Call a model, and return its reply without keys and in characters that files can hold.

    Raises:
        JudgeError: No text came, whatever the model raised or returned instead.
    """
    try:
        return _checked(model, model.complete(request))
    except JudgeError:
        raise
    except (Exception, asyncio.CancelledError) as error:
        raise as_judge_error(error) from error


async def acomplete(model: JudgeModel, request: JudgeRequest) -> ModelReply:
    """The same, awaited.

    Raises:
        JudgeError: As for `complete`.
        CancelledError: The task that waits here is cancelled.
    """
    try:
        return _checked(model, await model.acomplete(request))
    except JudgeError:
        raise
    except (Exception, asyncio.CancelledError) as error:
        task = asyncio.current_task()
        if (
            isinstance(error, asyncio.CancelledError)
            and task is not None
            and task.cancelling()
        ):
            raise  # and not one that the model made
        raise as_judge_error(error) from error


def _checked(model: JudgeModel, reply: object) -> ModelReply:
    if not isinstance(reply, ModelReply) or not isinstance(reply.text, str):
        raise JudgeError(
            f"the judge model returned {type(reply).__name__}; it must return a ModelReply",
            reason="no_reply",
        )
    text = mask(whole_characters(reply.text))
    _LOG.debug("%s replied after %s retries", model.name, reply.retries)
    if text == reply.text:
        return reply
    return replace(reply, text=text, token_logprobs=None)


def token_logprobs(logprobs: Any) -> tuple[TokenLogprob, ...] | None:
    """Read the tokens of a reply from JSON, with or without the ``content`` around them.

    None where one of them is malformed, since the reply itself may still be good.
    """
    try:
        entries = logprobs if isinstance(logprobs, list) else logprobs["content"]
        tokens = tuple(
            TokenLogprob(
                *_token(entry), tuple(map(_token, entry.get("top_logprobs") or ()))
            )
            for entry in entries
        )
    except (LookupError, TypeError, AttributeError, ValueError):
        return None
    return tokens or None


def _token(entry: Any) -> tuple[str, float]:
    token = entry["token"]
    logprob = entry["logprob"]
    if not isinstance(token, str) or isinstance(logprob, bool):
        raise TypeError(entry)
    return token, float(logprob)


def closed_object(properties: Mapping[str, object]) -> Json:
    """The JSON schema of an object with these properties, all of them, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
