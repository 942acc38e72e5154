"""Conversations as files and programs hold them: question, answer and contexts of a list of messages.

Read are the messages of OpenAI's interfaces (chat and responses), of Anthropic's, of LangChain,
LlamaIndex, RAGAS and DeepEval, as mappings or as objects. The answer is the last message of the model,
with its messages right before it; the question is the last one of the user before that; the contexts
are what tools returned before the answer. What a tool repeats of an argument is no context: the model
itself wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from pydantic_core import to_json

from tcva_adapters.errors import InvalidSampleError

_SPEAKERS: Final = {
    "user": "user human HumanMessage",
    "model": "assistant ai model chatbot AIMessage AIMessageChunk",
    "tool": "tool function function_call_output ToolMessage FunctionMessage "
    "custom_tool_call_output file_search_call mcp_call local_shell_call_output shell_call_output "
    "apply_patch_call_output program_output",
    "other": "system developer function_call reasoning SystemMessage "
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

_ARGUMENTS: Final = frozenset(
    [
        "arguments",
        "args",
        "input",
        "tool_kwargs",
        "inputParameters",
        "input_parameters",
        "queries",
        "action",
        "operation",
    ]
)
"""What interfaces call the arguments of a tool's call."""

_SENTENCE_END: Final = re.compile(
    "[.!;](?=[\\s\"'`]|$)|[\u3002\uff01\uff1b\n\"`\u201c\u201d]|['\u2019](?!\\w)|(?<!\\w)['\u2018]"
)
_UNSPACED: Final = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff"
_WORD: Final = re.compile(rf"[{_UNSPACED}]{{1,2}}|[^\W{_UNSPACED}]+")
"""A word, or one or two characters of a script without spaces."""
_PIECE: Final = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_BEFORE: Final = "(?P<before>(?:^|[\"'\u201c\u2018\u00ab\u300c\u300e(\\[{:\uff1a\n.!?\u3002\uff01\uff1f\uff1b;>\u2013\u2014\u2713\u2714\u2705-]|\\bthat\\b)[^\\S\n]*[*_`]*)?"
"""What stands before a text that is repeated as a whole, where it does."""
_BEHIND: Final = "(?=[*_`]*\\s*(?:$|\"(?!\\s*:)|['\u201d\u2019\u00bb\u300d\u300f)\\]},.!;<\u3002\uff0c\uff01\uff1b\u2713\u2714\u2705\n\\\\]))"
"""What stands behind it: not the rest of a sentence, nor the answer to a question."""
_CODE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|[nrt])")
_MANY: Final = 100
"""What repeats more statements is a copy of them."""
FEW_WORDS: Final = 3
"""Fewer state nothing."""
_ENOUGH_WORDS: Final = 60
"""Words of a statement that are compared: who repeats so many in a row repeats the rest."""
_REST: Final = "[^.!?\n\u3002\uff01\uff1f]*"
"""What is left of a sentence."""

RETRIEVED: Final = ("tool", "context")
"""Whose texts are contexts."""

Said = tuple[str, str]
"""Who said something (``user``, ``model``, ``tool``, ``context`` or ``other``), and what."""


Words = tuple[str, ...]
"""A statement, or its beginning."""


class Talk(NamedTuple):
    """The messages of a record.

    Attributes:
        name: The field that holds them, for messages.
        messages: Messages, or pairs of a role and a text.
        answer: The answer, where it stands elsewhere; empty where none of its fields is known.
        is_whole: Whether the record has no question and no answer beside them.
    """

    name: str
    messages: Sequence[Any]
    answer: str | None
    is_whole: bool


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


def answer_in(said: Iterable[Said]) -> str:
    """The model's last text, with those right before it; a text's own contexts are not in between."""
    by_speaker = groupby(
        (each for each in said if each[0] != "context"), key=itemgetter(0)
    )
    runs = (
        [text for _, text in run if text.strip()]
        for who, run in by_speaker
        if who == "model"
    )
    return "\n\n".join(next(filter(None, reversed([*runs])), ()))


def statements_in(message: Any, is_argument: bool = False) -> Iterator[Words]:
    """The statements among the arguments with which a message calls tools; names and ids are none.

    Args:
        message: A message, or a part of one.
        is_argument: Whether it is a part of an argument.

    >>> call = {"function": {"name": "remember", "arguments": '{"text": "Ada is the captain."}'}}
    >>> [*statements_in({"role": "assistant", "tool_calls": [call]})]
    [('ada', 'is', 'the', 'captain')]
    """
    if isinstance(message, Mapping | list | tuple):
        parts = message.items() if isinstance(message, Mapping) else enumerate(message)
        for name, part in parts:
            if is_argument or name != "output":
                yield from statements_in(part, is_argument or name in _ARGUMENTS)
    elif isinstance(message, str) and is_argument:
        for text in _SENTENCE_END.split(_decoded(message)):
            words = _WORD.findall(text)
            if sum(map(str.isalpha, words)) >= FEW_WORDS and not text.istitle():
                yield tuple(_PIECE.findall(text.lower())[:_ENOUGH_WORDS])


def without_statements(statements: Mapping[Words, set[int]], text: str) -> str:
    """What a tool returned, without the statements that it repeats; empty if little else is left.

    Case, marks and the spaces between words do not matter. A search for words that a found text has
    in its sentences takes nothing from it.

    Args:
        statements: Each, and the first words of each with the numbers of words of those that begin
            so: a text is looked through once, however many there are.
        text: What the tool returned.

    >>> said = {("ada", "is", "the"): {4}, ("ada", "is", "the", "captain"): set()}
    >>> without_statements(said, 'Hits for "ada is the captain". The log names Ada.')
    'Hits for "…". The log names Ada.'
    >>> without_statements(said, "Saved: Ada is the captain."), without_statements(said, "Ada is the captain of Vega.")
    ('', 'Ada is the captain of Vega.')
    """
    left = kept = plain = _decoded(text)
    words = _PIECE.findall(plain.lower()) if statements else []
    repeated = {
        tuple(words[place : place + size])
        for place in range(len(words))
        for size in statements.get(tuple(words[place : place + FEW_WORDS]), ())
    }
    repeated &= statements.keys()
    if len(repeated) > _MANY:
        return ""
    for statement in sorted(repeated):
        behind = _BEHIND if len(statement) < _ENOUGH_WORDS else _REST
        pattern = re.compile(
            _BEFORE + r"[\W_]*".join(statement) + behind, re.IGNORECASE
        )
        left = pattern.sub(" ", left)
        kept = pattern.sub(_marked, kept)
    if left == plain:
        return text
    has_content = len(_WORD.findall(left)) >= FEW_WORDS or any(map(str.isdigit, left))
    return kept if has_content else ""


def _marked(repeated: re.Match[str]) -> str:
    """A mark in place of a statement that is repeated as a whole; else what stands there."""
    return repeated[0] if repeated["before"] is None else f"{repeated['before']}…"


def _decoded(text: str) -> str:
    """A text in which JSON has written characters as codes, and breaks of lines as letters."""
    return _CODE.sub(lambda code: chr(int(code[1] or "a", 16)), text)


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
