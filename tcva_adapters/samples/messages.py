"""Conversations as files hold them: question, answer and contexts out of a list of messages.

Read are the messages of OpenAI's interfaces (chat and responses), of Anthropic's, of LangChain,
LlamaIndex and RAGAS. The answer is the last message of the model; the question, the last one of the
user before it; what tools returned are the contexts, as for an agent in LangChain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from tcva_adapters.errors import InvalidSampleError

MESSAGE_FIELDS: Final = ("messages", "trajectory", "conversation")
"""Where a record keeps a conversation."""

_USER, _MODEL, _TOOL, _OTHER = "user", "model", "tool", "other"
_ROLES: Final = {
    "user": _USER,
    "human": _USER,
    "assistant": _MODEL,
    "ai": _MODEL,
    "model": _MODEL,
    "AIMessageChunk": _MODEL,
    "tool": _TOOL,
    "function": _TOOL,
    "function_call_output": _TOOL,
    "system": _OTHER,
    "developer": _OTHER,
    "function_call": _OTHER,
    "reasoning": _OTHER,
}
_CLASSES: Final = {"HumanMessage": "human", "AIMessage": "ai", "ToolMessage": "tool"}
_CONTENTS: Final = ("content", "text", "output", "blocks")
_PAIR: Final = 2


class _Said(NamedTuple):
    role: str
    text: str


def is_messages(value: Any) -> bool:
    """Whether these are messages: objects with a role or a type, and a content."""
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) > 0
        and all(isinstance(each, Mapping) and _role(each) is not None for each in value)
    )


def conversation(name: str, messages: Any, *, is_answered: bool = False) -> dict[str, Any]:
    """Question, answer and contexts of a conversation; only what there is.

    Args:
        name: The field, for messages.
        messages: A list of messages, or of pairs of a role and a text.
        is_answered: Whether the answer stands elsewhere; the last question is its own then.

    Raises:
        InvalidSampleError: Something in it is no message.

    >>> conversation("messages", [["user", "Who?"], {"role": "assistant", "content": "Ada."}])
    {'input': 'Who?', 'response': 'Ada.'}
    """
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        msg = f"field {name!r} must be a list of messages, got {type(messages).__name__}"
        raise InvalidSampleError(msg)
    said = [
        each for number, message in enumerate(messages, 1) for each in _read(name, number, message)
    ]
    answers = [place for place, each in enumerate(said) if each.role == _MODEL]
    end = len(said) if is_answered or not answers else answers[-1]
    found: dict[str, Any] = {}
    questions = [each.text for each in said[:end] if each.role == _USER]
    if questions:
        found["input"] = questions[-1]
    if end < len(said):
        found["response"] = said[end].text
    if contexts := [each.text for each in said if each.role == _TOOL]:
        found["contexts"] = contexts
    return found


def text_of_message(value: Any) -> str | None:
    """The text of one message; None for what is none."""
    if not isinstance(value, Mapping) or _role(value) is None:
        return None
    return "".join(_texts(_content(value)))


def _read(name: str, number: int, message: Any) -> list[_Said]:
    if _is_pair(message):
        message = {"role": message[0], "content": message[1]}
    role = _role(message) if isinstance(message, Mapping) else None
    if role is None:
        known = ", ".join(_ROLES)
        what = f"{message!r:.60}"
        msg = (
            f"field {name!r}, message {number}: {what} is no message with a role (or type) that is "
            f"known; roles are {known}"
        )
        raise InvalidSampleError(msg)
    content = _content(message)
    # Anthropic's messages of the user carry what tools returned.
    returned = [
        _Said(_TOOL, "".join(_texts(part.get("content"))))
        for part in content
        if isinstance(part, Mapping) and part.get("type") == "tool_result"
    ]
    texts = _texts(content)
    return returned if returned and not texts else [*returned, _Said(role, "".join(texts))]


def _is_pair(message: Any) -> bool:
    return (
        isinstance(message, Sequence)
        and len(message) == _PAIR
        and all(isinstance(part, str) for part in message)
        and message[0] in _ROLES
    )


def _role(message: Mapping[str, Any]) -> str | None:
    kind = message.get("role") or message.get("type")
    if kind == "constructor" and isinstance(message.get("id"), list):  # LangChain's `dumps`
        kind = _CLASSES.get(str(message["id"][-1]), "system")
    return _ROLES.get(kind) if isinstance(kind, str) else None


def _content(message: Mapping[str, Any]) -> list[Any]:
    for inner in ("data", "kwargs"):  # where LangChain writes a message to
        if isinstance(message.get(inner), Mapping):
            message = message[inner]
    content: Any = next((message[key] for key in _CONTENTS if message.get(key) is not None), [])
    return list(content) if isinstance(content, list | tuple) else [content]


def _texts(content: Any) -> list[str]:
    """The texts of a message's parts; pictures, tool calls and thoughts are left out."""
    parts = content if isinstance(content, list | tuple) else [content]
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
            texts.append(part["text"])
    return texts
