"""The lexical judge behind a scripted HTTP server: it answers every prompt of a comparison."""

# ruff: noqa: PLC0415  # a framework is imported when one of its prompts comes

import asyncio
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib import import_module
from string import Formatter
from typing import Any

from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.errors import JudgeError
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.judges.prompts import NOT_A_CLAIM
from tcva_adapters.models.judge_model import JudgeRequest, ModelReply
from tests.support.server import (
    CLAIM,
    PASSAGE,
    Body,
    Scripted,
    ScriptedServer,
    asked_numbers,
    error,
)


@lru_cache(maxsize=4096)
def lexical_reply(prompt: str) -> str | None:
    """The lexical judge's reply to a prompt of ours or of a framework metric; None for others."""
    if "<<<CLAIM" in prompt:
        return _ours(prompt)
    for answer in (_deepeval, _langchain, _llamaindex, _ragas):
        try:
            text = answer(prompt)
        except JudgeError:
            continue
        if text is not None:
            return text
    return None


def _ours(prompt: str) -> str:
    wanted = asked_numbers(prompt)
    claims = {int(number): text.strip() for number, text in CLAIM.findall(prompt)}
    passages = [text for _, text in PASSAGE.findall(prompt)]
    judged = LexicalJudge().judge_claims(list(claims.values()), passages, FAITHFULNESS)
    return json.dumps(
        {
            f"claim_{number}": {
                "quote_from_passage": verdict.evidence,
                "reason": verdict.reason,
                "verdict": NOT_A_CLAIM
                if verdict.verdict is None
                else verdict.verdict.value,
            }
            for number, verdict in zip(claims, judged, strict=True)
            if number in wanted
        }
    )


@cache
def _llm(framework: str) -> Any:
    return import_module(f"tcva_adapters.{framework}").LexicalLLM()


def _deepeval(prompt: str) -> str | None:
    return str(_llm("deepeval").generate(prompt))


def _langchain(prompt: str) -> str | None:
    from langchain_classic.evaluation.criteria import prompt as criteria
    from langchain_core.messages import HumanMessage

    if prompt.startswith(criteria.PROMPT_WITH_REFERENCES.template.partition("{")[0]):
        return "Y"  # which words cannot tell
    return str(_llm("langchain").invoke([HumanMessage(prompt)]).text)


def _ragas(prompt: str) -> str | None:
    from tcva_adapters.ragas.offline import PROMPTS

    for known in PROMPTS:
        try:
            answer = _llm("ragas").generate(prompt, known.output_model)
        except JudgeError:
            continue
        return str(answer.model_dump_json())
    return None


def _llamaindex(prompt: str) -> str | None:
    from llama_index.core.evaluation import faithfulness

    template, pattern = faithfulness.DEFAULT_EVAL_TEMPLATE, _faithfulness_pattern()
    match = pattern.fullmatch(prompt)
    return match and str(_llm("llamaindex").predict(template, **match.groupdict()))


@cache
def _faithfulness_pattern() -> re.Pattern[str]:
    from llama_index.core.evaluation import faithfulness

    parts = Formatter().parse(faithfulness.DEFAULT_EVAL_TEMPLATE.get_template())
    groups = (
        re.escape(t) + (f"(?P<{name}>.*)" if name else "") for t, name, _, _ in parts
    )
    return re.compile("".join(groups), re.DOTALL)


class LexicalModel:
    """The same without a server: a judge model that can be told to fail.

    Attributes:
        fails: Called with each prompt before it is answered; may raise, or give another reply.
        prompts: Every prompt, in order.
    """

    name = "scripted:lexical"
    parameters: Mapping[str, Any] = {}  # as the protocol has it

    def __init__(self, fails: Callable[[str], str | None] = lambda _: None) -> None:
        self.fails = fails
        self.prompts: list[str] = []

    def complete(self, request: JudgeRequest) -> ModelReply:
        self.prompts.append(request.user)
        text = self.fails(request.user) or lexical_reply(request.user)
        if text is None:
            msg = f"a prompt that is not known: {request.user[:60]!r}"
            raise JudgeError(msg)
        return ModelReply(text, input_tokens=10, output_tokens=5)

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        await asyncio.sleep(0)  # so that judgements under way at once really interleave
        return self.complete(request)


class LexicalServer(ScriptedServer):
    """A server on 127.0.0.1.

    Attributes:
        prompts: How often each prompt came.
    """

    def __init__(self) -> None:
        super().__init__(self._script)
        self._guard = threading.Lock()
        self.prompts: Counter[str] = Counter()

    def _script(self, body: Body, number: int) -> Scripted:
        prompt = body["messages"][-1]["content"]
        with self._guard:
            self.prompts[prompt] += 1
        return lexical_reply(prompt) or error(
            400, f"a prompt that is not known: {prompt[:60]!r}"
        )
