"""The lexical judge as a LangChain LLM: LangChain's own context-QA evaluator, unmodified, offline.

The same judge as behind ``TCVAEvaluator("lexical")``, seen through LangChain's yes and no.
"""

from __future__ import annotations

import re

from langchain_classic.evaluation.qa import eval_prompt
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import BaseMessage

from tcva_adapters._adapter.offline import NAME, is_supported, unknown_prompt

_KNOWN = "LangChain's context_qa evaluator"
_PROMPT = re.compile(
    # The template, in which each variable is a group.
    re.sub(
        r"\\{(\w+)\\}", r"(?P<\1>.*?)", re.escape(eval_prompt.CONTEXT_PROMPT.template)
    ),
    re.DOTALL,
)


class LexicalLLM(SimpleChatModel):
    """Answers LangChain's ``context_qa`` with the lexical judge's verdicts.

    It answers ``CORRECT`` if the context fully or mostly supports every claim of the answer. It is
    not a language model: any other prompt raises `JudgeError`.

    >>> from langchain_classic.evaluation import load_evaluator
    >>> evaluator = load_evaluator("context_qa", llm=LexicalLLM())
    >>> said = {"prediction": "It opens at nine.", "reference": "It opens at nine.", "input": "When?"}
    >>> evaluator.evaluate_strings(**said)["score"]
    1
    """

    @property
    def model_name(self) -> str:
        """The lexical judge's name."""
        return NAME

    @property
    def _llm_type(self) -> str:
        return "tcva-lexical"

    def _call(
        self,
        messages: list[BaseMessage],
        *_: object,
        **__: object,
    ) -> str:
        text = str(messages[-1].text)
        match = _PROMPT.fullmatch(text)
        if match is None:
            raise unknown_prompt(_KNOWN, text)
        is_right = is_supported(match["result"], match["context"].split("\n\n"))
        return "CORRECT" if is_right else "INCORRECT"
