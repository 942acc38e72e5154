"""A scripted judge model: the only part of these tests that is not the real thing."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from tcva_adapters.models.judge_model import JudgeRequest, ModelReply

Answer = str | ModelReply | Exception | Callable[[JudgeRequest], Any]


def verdict_json(*entries: tuple[int, str, str]) -> str:
    """A clean reply, in the form that is asked for, from (number, verdict, quote) triples."""
    said = {
        n: {"quote_from_passage": q, "reason": "r", "verdict": word}
        for n, word, q in entries
    }
    return json.dumps({f"claim_{n}": entry for n, entry in said.items()})


def listed_json(*entries: tuple[int, str, str]) -> str:
    """The same as a list, which is read, too; numbers may come twice in it."""
    about = {"passage": 1, "reason": "r"}
    said = [
        {"claim": n, "evidence": quote, **about, "verdict": w}
        for n, w, quote in entries
    ]
    return json.dumps({"verdicts": said})


class ScriptedModel:
    """Answers from a list, in order, or by a function of the request, and keeps every request."""

    def __init__(
        self, answers: Sequence[Answer] | Answer, *, name: str = "scripted:one"
    ) -> None:
        self.name = name
        self.parameters: Mapping[str, Any] = {"seed": 0}
        self.requests: list[JudgeRequest] = []
        self._answers = list(answers) if isinstance(answers, Sequence) else answers
        self._lock = threading.Lock()

    def complete(self, request: JudgeRequest) -> ModelReply:
        with self._lock:
            self.requests.append(request)
            answer = (
                self._answers.pop(0)
                if isinstance(self._answers, list)
                else self._answers
            )
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, str):
            return ModelReply(answer, input_tokens=10, output_tokens=5)
        return answer  # of a function: anything at all

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        return self.complete(request)


class Declared:
    """An LLM object that a store can be used with: a model that says what can change its answers.

    Attributes:
        llm: The object.
    """

    def __init__(self, llm: Any, framework: str, **parameters: Any) -> None:
        asked = import_module(f"tcva_adapters.{framework}.llm").as_judge_model(llm)
        self.llm, self.name, self.parameters = llm, asked.name, parameters
        self.complete, self.acomplete = asked.complete, asked.acomplete


def in_turn(*replies: str | Exception) -> Callable[[str], str]:
    """Answers from a list, in order, whatever the prompt; an exception in it is raised."""
    left = list(replies)

    def reply(_: str) -> str:
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return reply
