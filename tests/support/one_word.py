"""A server whose model answers claims with one word, with or without probabilities."""

import re
from collections.abc import Mapping
from typing import Any, Final

from tests.support.server import (
    Answer,
    Body,
    Script,
    Scripted,
    auto_judge,
    lacking,
    reply,
)

_CLAIM: Final = re.compile(r"<<<CLAIM \w+>>>\n(.*?)\n<<<END CLAIM \w+>>>", re.DOTALL)
_PASSAGE: Final = re.compile(
    r"<<<PASSAGE (\d+) \w+>>>\n(.*?)\n<<<END PASSAGE \1 \w+>>>", re.DOTALL
)

YES: Final = {"yes": 0.56, "Yes": 0.2, " no": 0.14, "No.": 0.1}
"""P(yes) is .76: partial .7 and mostly .3, since these stand at .7 and .9."""
NO: Final = {"no": 0.95, "yes": 0.05}


def prompt_of(body: Body) -> str:
    """The last message, in which the claim stands."""
    content: Any = body["messages"][-1]["content"]
    if isinstance(content, list):
        return "".join(part["text"] for part in content)
    return str(content)


def one_word(body: Body, number: int) -> Scripted:
    """Yes for a claim that stands in a passage, else no; written verdicts as they are."""
    prompt = prompt_of(body)
    claim = _CLAIM.search(prompt)
    if claim is None:
        return auto_judge(body, number)
    core = claim[1].strip().rstrip(".").lower()
    held = any(core in passage.lower() for _, passage in _PASSAGE.findall(prompt))
    return _answer(body, YES if held else NO)


def _answer(body: Body, top: Mapping[str, float]) -> Answer:
    text = next(iter(top))
    asked = body.get("logprobs")
    return reply(text, tokens=[(text, top)] if asked else None)


SERVERS: Final[Mapping[str, Script]] = {
    "JSON schema only": lacking("logprobs", then=one_word),
    "logprobs only": lacking("json_schema", "json_object", then=one_word),
    "neither": lacking("logprobs", "n", "json_schema", "json_object", then=one_word),
}
"""What a server takes."""
