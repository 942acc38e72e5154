"""A server whose model answers claims with one word, with or without probabilities."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tests.support.server import Answer, Body, Script, Scripted, auto_judge, lacking, reply

_CLAIM: Final = re.compile(r"<<<CLAIM>>>\n(.*?)\n<<<END CLAIM>>>", re.DOTALL)
_PASSAGE: Final = re.compile(r"<<<PASSAGE (\d+)>>>\n(.*?)\n<<<END PASSAGE \1>>>", re.DOTALL)

YES: Final = {"yes": 0.56, "Yes": 0.2, " no": 0.14, "No.": 0.1}
"""P(yes) is .76: partial .7 and mostly .3, since these stand at .7 and .9."""
NO: Final = {"no": 0.95, "yes": 0.05}
A: Final = {"A": 0.5, " B": 0.25, "c": 0.25}
E: Final = {"E": 0.8, "D": 0.1, "The": 0.1}


def prompt_of(body: Body) -> str:
    """The last message, in which the claim stands."""
    content: Any = body["messages"][-1]["content"]
    if isinstance(content, list):
        return "".join(part["text"] for part in content)
    return str(content)


def one_word(body: Body, number: int) -> Scripted:
    """Yes or A for a claim that stands in a passage, else no or E; written verdicts as they are."""
    prompt = prompt_of(body)
    if "Is two more than one?" in prompt:
        return _answer(body, YES)
    claim = _CLAIM.search(prompt)
    if claim is None:
        return auto_judge(body, number)
    core = claim[1].strip().rstrip(".").lower()
    held = any(core in passage.lower() for _, passage in _PASSAGE.findall(prompt))
    by_letter = "one letter" in prompt
    return _answer(body, ((E, A) if by_letter else (NO, YES))[held])


def _answer(body: Body, top: Mapping[str, float]) -> Answer:
    text = next(iter(top))
    asked = body.get("logprobs")
    answer = reply(text, tokens=[(text, top)] if asked else None)
    if body.get("n", 1) > 1:
        answer.payload["choices"] *= body["n"]
    return answer


SERVERS: Final[Mapping[str, Script]] = {
    "JSON schema only": lacking("logprobs", then=one_word),
    "logprobs only": lacking("json_schema", "json_object", then=one_word),
    "neither": lacking("logprobs", "n", "json_schema", "json_object", then=one_word),
}
"""What a server takes."""
