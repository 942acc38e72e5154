"""Conversations as files and programs hold them: question, answer and contexts of a list of messages.

Read are the messages of OpenAI's interfaces (chat and responses), of Anthropic's, of LangChain,
LlamaIndex, RAGAS and DeepEval, as mappings or as objects. The answer is the last message of the model,
with its messages right before it; the question is the last one of the user before that; the contexts
are what tools returned before the answer. What a tool repeats of an argument is no context: the model
itself wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic_core import to_json

from tcva_adapters.errors import InvalidSampleError

_SPEAKERS: Final = {
    "user": "user human HumanMessage HumanMessageChunk",
    "model": "assistant ai model chatbot AIMessage AIMessageChunk",
    "tool": "tool function function_call_output ToolMessage ToolMessageChunk FunctionMessage "
    "custom_tool_call_output file_search_call mcp_call local_shell_call_output shell_call_output "
    "apply_patch_call_output program_output",
    "other": "system developer function_call reasoning SystemMessage SystemMessageChunk remove "
    "custom_tool_call web_search_call code_interpreter_call computer_call computer_call_output "
    "local_shell_call shell_call apply_patch_call program tool_search_call tool_search_output "
    "image_generation_call mcp_list_tools mcp_approval_request mcp_approval_response "
    "additional_tools compaction compaction_trigger item_reference",
}
_ROLES: Final = {
    role: speaker for speaker, roles in _SPEAKERS.items() for role in roles.split()
}
_CONTENTS: Final = ("content", "text", "output", "blocks")
_MEDIA: Final = "image image_url input_image file input_file document audio input_audio"
"""Parts of a message that are no text."""

RETRIEVED: Final = ("tool", "context")
"""Whose texts are contexts."""

Said = tuple[str, str]
"""Who said something (``user``, ``model``, ``tool``, ``context`` or ``other``), and what."""


def is_messages(value: Any) -> bool:
    """Whether these are messages: mappings or objects with a role or a type."""
    is_list = (
        isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0
    )
    return is_list and all(map(_speaker, value))


def as_mapping(value: Any) -> Any:
    """A message that is an object, or a pair of a role and a text, as a mapping; all else as it is.

    >>> from types import SimpleNamespace
    >>> as_mapping(SimpleNamespace(role="user", content="Who?"))
    {'role': 'user', 'content': 'Who?'}
    """
    if isinstance(value, list | tuple) and [*map(type, value)] == [str, str]:
        return {"role": value[0], "content": value[1]}
    if isinstance(value, Mapping) or _speaker(value) is None:
        return value
    # Frameworks leave values in their messages that do not fit their types.
    return (
        value.model_dump(warnings=False)
        if hasattr(value, "model_dump")
        else vars(value)
    )


def text_of_message(value: Any) -> str | None:
    """The text of one message; None for what is none."""
    return None if _speaker(value) is None else _text(_content(as_mapping(value)))


def said_in(name: str, number: int, message: Any) -> list[Said]:
    """Who says what in a message (user, model, tool, other; context beside it), and the text.

    Raises:
        InvalidSampleError: It is no message.
    """
    message = as_mapping(message)
    speaker = _speaker(message)
    if speaker is None:
        msg = f"field {name!r}, message {number}: a message must have a role (or type) such as user, assistant or tool, got {message!r:.60}"
        raise InvalidSampleError(msg)
    content = _content(message)
    # Anthropic's messages of the user carry what tools returned, and OpenAI's searches what they found.
    returned = [
        ("tool", _returned(_content(part)))
        for part in content
        if isinstance(part, Mapping) and part.get("type") == "tool_result"
    ]
    # DeepEval's turns say what tools returned beside the answer, which may go on in the next turn.
    called = message.get("toolsCalled", message.get("tools_called"))
    calls = called if isinstance(called, list) else ()
    outputs = [call.get("output") for call in calls if isinstance(call, Mapping)]
    returned += [("context", _returned([each])) for each in outputs if each is not None]
    found = (
        message.get("results") if message.get("type") == "file_search_call" else None
    )
    returned += (
        [("tool", _text(part)) for part in found] if isinstance(found, list) else []
    )
    text = _returned(content) if speaker == "tool" else _text(content)
    return returned if returned and not text else [*returned, (speaker, text)]


def _speaker(message: Any) -> str | None:
    """Who speaks in a message, be it a mapping or an object; None for what is no message."""
    names = ("role", "type", "id")
    is_mapping = isinstance(message, Mapping)
    *kinds, path = (
        message.get(name) if is_mapping else getattr(message, name, None)
        for name in names
    )
    role = next((kind for kind in kinds if isinstance(kind, str) and kind), "")
    if role == "constructor" and isinstance(path, list):  # LangChain's `dumps`
        role = str(path[-1])
    return _ROLES.get(role)


def _content(message: Mapping[str, Any]) -> list[Any]:
    for inner in ("data", "kwargs"):  # where LangChain writes a message to
        if isinstance(message.get(inner), Mapping):
            message = message[inner]
    content: Any = next(
        (message[key] for key in _CONTENTS if message.get(key) is not None), []
    )
    return list(content) if isinstance(content, list | tuple) else [content]


def _text(content: Any) -> str:
    """The text of a message's parts; pictures, tool calls and thoughts are left out."""
    parts = content if isinstance(content, list | tuple) else [content]
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def _returned(content: list[Any]) -> str:
    """What a tool returned: its text, or else values and objects as JSON; pictures are left out."""
    left = (each for each in content if each not in ("", None) and not _is_part(each))
    return _text(content) or "\n".join(
        to_json(each, fallback=str).decode() for each in left
    )


def _is_part(value: Any) -> bool:
    kind = (
        value.get("type", value.get("block_type"))
        if isinstance(value, Mapping)
        else None
    )
    return str(kind) in _MEDIA.split() or (
        isinstance(value, Mapping) and "text" in value
    )
