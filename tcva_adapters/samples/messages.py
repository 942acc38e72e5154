"""Read question, answer and contexts from a list of messages.

Supported are the messages of OpenAI's interfaces (chat and responses), of Anthropic's, of LangChain,
LlamaIndex, RAGAS and DeepEval, as mappings or as objects. The answer is the last message of the model,
with its messages right before it; the question is the last one of the user before that; the contexts
are what tools returned before the answer. A statement that a tool repeats from its arguments is no
context, since the model wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, takewhile
from typing import Any, NamedTuple

from pydantic_core import to_json

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.samples.contexts import read_contexts, value_of
from tcva_adapters.samples.tool_echoes import (
    FEW_WORDS,
    statements_in,
    without_statements,
)
from tcva_adapters.tables import Record

_SPEAKERS = {
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
_ROLES = {
    role: speaker for speaker, roles in _SPEAKERS.items() for role in roles.split()
}
_CONTENTS = ("content", "text", "output", "blocks")
_MEDIA = (
    "image",
    "image_url",
    "input_image",
    "file",
    "input_file",
    "document",
    "audio",
    "input_audio",
)
"""Parts of a message that are no text."""

RETRIEVED = ("tool", "context")
"""Speakers whose texts are contexts."""


class Utterance(NamedTuple):
    """The words of one speaker in a message.

    Attributes:
        speaker: ``user``, ``model``, ``tool``, ``context`` or ``other``.
        text: The words.
    """

    speaker: str
    text: str


def is_messages(value: Any) -> bool:
    """Whether these are messages: mappings or objects with a role or a type."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return False
    return len(value) > 0 and all(map(_speaker, value))


def as_mapping(value: Any) -> Any:
    """Turn a message object, or a pair of a role and a text, into a mapping; all else stays.

    >>> from types import SimpleNamespace
    >>> as_mapping(SimpleNamespace(role="user", content="Who?"))
    {'role': 'user', 'content': 'Who?'}
    """
    if isinstance(value, list | tuple) and [*map(type, value)] == [str, str]:
        return {"role": value[0], "content": value[1]}
    if isinstance(value, Mapping) or _speaker(value) is None:
        return value
    # Frameworks leave values in their messages that do not fit their types.
    if hasattr(value, "model_dump"):
        return value.model_dump(warnings=False)
    return vars(value)


def text_of_message(value: Any) -> str | None:
    """The text of one message; None for anything that is not a message."""
    return None if _speaker(value) is None else _text(_content(as_mapping(value)))


def utterances_in(name: str, number: int, message: Any) -> list[Utterance]:
    """Split a message into what each speaker says, with the tool outputs that it carries.

    Raises:
        InvalidSampleError: It is not a message.
    """
    message = as_mapping(message)
    speaker = _speaker(message)
    if speaker is None:
        raise InvalidSampleError(
            f"field {name!r}, message {number}: a message must have a role (or type) such as user, assistant or tool, got {message!r:.60}"
        )
    content = _content(message)
    # Anthropic's messages of the user carry what tools returned.
    returned = [
        Utterance("tool", _output_text(_content(part)))
        for part in content
        if isinstance(part, Mapping) and part.get("type") == "tool_result"
    ]
    # DeepEval's turns carry tool outputs next to the answer, which may go on in the
    # next turn.
    returned += [
        Utterance("context", _output_text([call["output"]]))
        for call in _items(message.get("toolsCalled", message.get("tools_called")))
        if isinstance(call, Mapping) and call.get("output") is not None
    ]
    if message.get("type") == "file_search_call":  # OpenAI's, with what it found
        returned += [
            Utterance("tool", _text([hit])) for hit in _items(message.get("results"))
        ]
    text = _output_text(content) if speaker == "tool" else _text(content)
    if text or not returned:
        returned.append(Utterance(speaker, text))
    return returned


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _speaker(message: Any) -> str | None:
    """Who speaks in a message, be it a mapping or an object; None for what is no message."""
    role = value_of(message, "role")
    if not isinstance(role, str) or not role:
        role = value_of(message, "type")
    path = value_of(message, "id")
    if role == "constructor" and isinstance(path, list):  # LangChain's `dumps`
        role = path[-1]
    return _ROLES.get(role) if isinstance(role, str) else None


def _content(message: Mapping[str, Any]) -> Sequence[Any]:
    for inner in ("data", "kwargs"):  # where LangChain writes a message to
        if isinstance(message.get(inner), Mapping):
            message = message[inner]
    content: Any = next(
        (message[key] for key in _CONTENTS if message.get(key) is not None), []
    )
    return content if isinstance(content, list | tuple) else [content]


def _text(parts: Sequence[Any]) -> str:
    """The text of a message's parts; pictures, tool calls and thoughts are left out."""
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def _output_text(content: Sequence[Any]) -> str:
    """The output of a tool: its text, or else values and objects as JSON; pictures are left out."""
    text = _text(content)
    if text:
        return text
    left = [item for item in content if item not in ("", None) and not _is_part(item)]
    return "\n".join(to_json(item, fallback=str).decode() for item in left)


def _is_part(value: Any) -> bool:
    """Whether this is a part of a message: a text, or something that is none, such as a picture."""
    if not isinstance(value, Mapping):
        return False
    kind = value.get("type", value.get("block_type"))
    return "text" in value or kind in _MEDIA


class Dialogue(NamedTuple):
    """The messages of a record.

    Attributes:
        name: The field that holds them, for messages.
        messages: Messages, or pairs of a role and a text.
        answer: The answer, where it stands outside the messages; empty where the record has
            outputs without a known field.
        is_whole: Whether the record has no question and no answer outside the messages.
    """

    name: str
    messages: Sequence[Any]
    answer: str | None
    is_whole: bool


def answer_in(utterances: Sequence[Utterance]) -> str:
    """The model's last text, with those right before it; contexts between them do not count."""
    texts = []
    for speaker, text in reversed(utterances):
        if speaker == "model" and text.strip():
            texts.append(text)
        elif texts and speaker not in ("model", "context"):
            break
    return "\n\n".join(reversed(texts))


_CONTEXTS = (
    "retrieval_context",
    "retrievalContext",
    "contexts",
    "retrieved_contexts",
)
"""Fields in which a message holds its own contexts."""


def fields_in(dialogue: Dialogue) -> Record:
    """Read question, answer and contexts from messages; missing ones are left out.

    Contexts are the outputs of tools before the answer, and the own contexts of the answer's
    message and of those before it. The answer is empty if the model ended without a text after the
    last question.

    Raises:
        InvalidSampleError: An item is not a message.

    >>> messages = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Ada."}]
    >>> fields_in(Dialogue("messages", messages, None, True))
    {'input': 'Who?', 'response': 'Ada.'}
    """
    utterances = [*chain(*utterances_by_message(dialogue.name, dialogue.messages))]
    answers = [
        place
        for place, (speaker, text) in enumerate(utterances)
        if speaker == "model" and text.strip()
        if dialogue.answer is None or dialogue.answer.strip().endswith(text.strip())
    ]
    end = answers[-1] if answers else len(utterances)
    before = utterances[:end]
    fields: Record = {}
    if questions := [text for speaker, text in before if speaker == "user"]:
        fields["input"] = questions[-1]
    if dialogue.answer is None and _ends_without_text(utterances):
        fields["response"] = ""
    elif answers:
        fields["response"] = answer_in(utterances[: end + 1])
    if retrieved := [part for part in before if part.speaker in RETRIEVED]:
        fields["contexts"] = [
            part.text for part in retrieved if part != ("context", "")
        ]
    return fields


def _ends_without_text(utterances: Sequence[Utterance]) -> bool:
    """Whether the model spoke last, and said nothing since the last question."""
    since = [*takewhile(lambda part: part.speaker != "user", reversed(utterances))]
    if not since or since[0].speaker != "model":
        return False
    return not answer_in(since)


def utterances_by_message(
    name: str, messages: Iterable[Any]
) -> Iterator[list[Utterance]]:
    """Yield what each speaker says in each message, after the message's own contexts.

    Statements in the arguments of this or an earlier tool call are taken out of a tool's output.

    Raises:
        InvalidSampleError: An item is not a message.
    """
    statements: dict[tuple[str, ...], set[int]] = {}
    for number, message in enumerate(messages, start=1):
        utterances = utterances_in(name, number, message)
        calls = utterances[0].speaker in {"model", "other", "context"}
        if calls or "arguments" in message:
            for words in statements_in(message):
                statements.setdefault(words[:FEW_WORDS], set()).add(len(words))
                statements.setdefault(words, set())
        spoken = [Utterance("context", text) for text in _contexts_of(message)]
        for speaker, text in utterances:
            is_retrieved = speaker in RETRIEVED
            left = without_statements(statements, text) if is_retrieved else text
            spoken.append(Utterance(speaker, left))
        yield spoken


def _contexts_of(message: Any) -> Iterator[str]:
    """The contexts in a message's own field, as in DeepEval's turns; an empty text for an empty one."""
    if isinstance(message, Mapping):
        for key in _CONTEXTS:
            if message.get(key) is not None:
                yield from read_contexts(key, message[key]) or [""]
