"""What a scripted server answers to the prompts of the framework metrics, by the lexical judge.

Replies have the form that each prompt asks for; their scores mean little.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import tests.support.quiet  # noqa: F401  # tracking is switched off before a framework is imported

# isort: split
from langchain_classic.evaluation.criteria import prompt as criteria_prompts
from langchain_core.messages import HumanMessage
from llama_index.core.evaluation import faithfulness as li_faithfulness

from tcva_adapters import deepeval, langchain, ragas
from tcva_adapters.errors import JudgeError
from tcva_adapters.ragas.offline import PROMPTS as RAGAS_PROMPTS
from tests.support import server as scripted
from tests.support.server import Body, Scripted, auto_judge

_LLAMAINDEX: Final = li_faithfulness.DEFAULT_EVAL_TEMPLATE.get_template().partition("{")[0]
_CRITERIA: Final = criteria_prompts.PROMPT_WITH_REFERENCES.template.partition("{")[0]


def framework_reply(prompt: str) -> str | None:
    """An answer in the format that a framework metric's prompt asks for; None for other prompts."""
    for begins, reply in ((_LLAMAINDEX, "YES"), (_CRITERIA, "Y")):
        if prompt.startswith(begins):
            return reply
    asks: list[Callable[[], str]] = [
        lambda: str(deepeval.LexicalLLM().generate(prompt)),
        lambda: str(langchain.LexicalLLM().invoke([HumanMessage(prompt)]).text),
    ]
    asks += [
        lambda model=known.output_model: (  # type: ignore[misc]  # mypy gives a default in a lambda no type
            ragas.LexicalLLM().generate(prompt, model).model_dump_json()
        )
        for known in RAGAS_PROMPTS
    ]
    for ask in asks:
        try:
            return ask()
        except JudgeError:
            continue
    return None


def answer(body: Body, number: int, *, otherwise: str | None = None) -> Scripted:
    """Our own requests by their numbered claims, the others by their prompts.

    Args:
        body: The request.
        number: Its number.
        otherwise: The reply to any other prompt, which is an error without it.
    """
    content = body["messages"][-1]["content"]
    prompt = content if isinstance(content, str) else content[0]["text"]
    is_ours = "<<<CLAIM" in prompt
    text = (auto_judge(body, number) if is_ours else framework_reply(prompt)) or otherwise
    if text is None:
        return scripted.error(400, f"a prompt that is not known: {prompt[:60]!r}")
    # Connections are not kept: clients outlive the event loops that RAGAS runs them in, and would
    # send a request again where the connection belongs to a loop that is gone.
    return replace(scripted.reply(text), headers={"Connection": "close"})
