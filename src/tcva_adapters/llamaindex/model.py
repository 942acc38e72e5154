"""A LlamaIndex LLM as judge model: its own client, retries, callbacks and rate limiter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.callbacks.token_counting import get_tokens_from_response
from llama_index.core.llms import LLM

from tcva_adapters.errors import JudgeError
from tcva_adapters.judging.models import JudgeModel, ModelReply
from tcva_adapters.judging.prompts import JudgeRequest

_PARAMETERS: Final = (
    "temperature",
    "max_tokens",
    "top_p",
    "top_k",
    "seed",
    "reasoning_effort",
    "context_window",
)
"""What LLM classes call the settings that can change a reply. A list of what is taken, not of what
is left out: a class may keep a key under any name."""

_UNNAMED: Final = "unknown"
_CUT_OFF: Final = frozenset({"length", "max_tokens", "MAX_TOKENS"})
_KEY_LIKE: Final = re.compile(r"\b(?:sk|pk|rk|gsk|xai|key)[-_][\w*.-]{6,}|(?<=Bearer )\S+")
_LONGEST_QUOTE: Final = 300


def as_judge_model(llm: object) -> JudgeModel | None:
    """A LlamaIndex LLM as judge model; None for anything else."""
    return LlamaIndexModel(llm) if isinstance(llm, LLM) else None


@dataclass(frozen=True, slots=True)
class LlamaIndexModel:
    """Asks a LlamaIndex LLM through its chat interface, which completion models have too.

    The system prompt that an application may have set on its LLM is not sent: it is about how to
    answer users, not about how to judge.

    Attributes:
        llm: The LLM; its own retries, callbacks, spans and rate limiter stay in force.
    """

    llm: LLM = field(repr=False)

    @property
    def name(self) -> str:
        """``llamaindex:`` and the model's name, or the name of its class where it has none."""
        name = self.llm.metadata.model_name
        return f"llamaindex:{self.llm.class_name() if name == _UNNAMED else name}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The LLM's class and the settings that can change a reply; no secrets."""
        settings = {name: getattr(self.llm, name, None) for name in _PARAMETERS}
        plain = {k: v for k, v in settings.items() if isinstance(v, bool | int | float | str)}
        return {"class": self.llm.class_name(), **plain}

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request.

        Raises:
            JudgeError: The LLM raised; the reason says what it was.
        """
        try:
            return _reply(self.llm.chat(self._messages(request)))
        except Exception as error:
            raise as_judge_error(error) from error

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request through the LLM's asynchronous interface.

        Raises:
            JudgeError: The LLM raised; the reason says what it was.
        """
        try:
            return _reply(await self.llm.achat(self._messages(request)))
        except Exception as error:
            raise as_judge_error(error) from error

    def _messages(self, request: JudgeRequest) -> list[ChatMessage]:
        return [
            # Some providers know the system role under another name.
            ChatMessage(role=self.llm.metadata.system_role, content=request.system),
            ChatMessage(role=MessageRole.USER, content=request.user),
        ]


def _reply(response: ChatResponse) -> ModelReply:
    input_tokens, output_tokens = _token_counts(response)
    raw = response.raw
    return ModelReply(
        response.message.content or "",
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        truncated=_finish_reason(response) in _CUT_OFF,
        model=str(_get(raw, "model") or ""),
    )


def _token_counts(response: ChatResponse) -> tuple[int, int]:
    try:
        counts = get_tokens_from_response(response)
    except (TypeError, ValueError, AttributeError):
        return 0, 0  # the raw reply is whatever the provider's package returns
    return counts[0] or 0, counts[1] or 0


def _finish_reason(response: ChatResponse) -> str:
    raw = response.raw
    choices = _get(raw, "choices")
    places = [response.additional_kwargs, raw, choices[0] if choices else None]
    words = (_get(place, key) for place in places for key in ("finish_reason", "stop_reason"))
    return next((word for word in words if isinstance(word, str)), "")


def _get(holder: Any, key: str) -> Any:
    return holder.get(key) if isinstance(holder, Mapping) else getattr(holder, key, None)


def as_judge_error(error: Exception) -> JudgeError:
    """What an exception of an LLM means, told by its class name and status alone.

    Provider packages are not imported: which of them are installed is not our business.

    >>> class RateLimitError(Exception):
    ...     status_code = 429
    >>> as_judge_error(RateLimitError("slow down")).reason
    'rate_limit'
    """
    if isinstance(error, JudgeError):
        return error
    status = next(
        (s for s in map(_status, (error, getattr(error, "response", None))) if s is not None), None
    )
    names = " ".join(cls.__name__ for cls in type(error).__mro__).lower()
    said = " ".join(_KEY_LIKE.sub("***", str(error)).split())[:_LONGEST_QUOTE]
    msg = f"{type(error).__name__}: {said}"
    for reason, statuses, words, fatal in _KINDS:
        if status in statuses or any(word in names for word in words):
            return JudgeError(msg, reason=reason, fatal=fatal)
    return JudgeError(msg)


_KINDS: Final = (
    # The first that fits counts: a timeout is also a connection error in several packages.
    ("timeout", (408, 504), ("timeout", "timedout", "deadlineexceeded"), False),
    ("rate_limit", (429,), ("ratelimit", "toomanyrequests", "resourceexhausted"), False),
    ("authentication", (401,), ("authenticationerror", "unauthenticated"), True),
    ("permission", (403,), ("permissiondenied",), True),
    ("model_not_found", (404,), ("notfounderror",), True),
    ("server_error", (500, 502, 503, 529), ("internalservererror",), False),
)


def _status(holder: Any) -> int | None:
    found = (getattr(holder, name, None) for name in ("status_code", "http_status", "code"))
    return next((s for s in found if isinstance(s, int) and not isinstance(s, bool)), None)
