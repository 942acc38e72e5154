"""The lexical judge as a LangChain LLM: LangChain's own evaluators, unmodified, offline.

The same judge as behind ``TCVAEvaluator("lexical")``, seen through LangChain's yes and no.
"""

from __future__ import annotations

import re
from string import Formatter
from typing import Any, Final

from langchain_classic.evaluation.criteria import prompt as criteria_prompts
from langchain_classic.evaluation.criteria.eval_chain import CriteriaEvalChain
from langchain_classic.evaluation.qa import eval_prompt as qa_prompts
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import BaseMessage

from tcva_adapters._adapter.offline import NAME, is_supported, unknown_prompt, verdicts_on
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.criteria import CORRECTNESS, FAITHFULNESS, Criterion
from tcva_adapters.text.sentences import split_claims

_KNOWN: Final = "LangChain's context_qa and labeled_criteria (correctness) evaluators"


class LexicalLLM(SimpleChatModel):
    """Answers LangChain's ``context_qa`` and ``labeled_criteria`` with the lexical judge's verdicts.

    A prompt is known by its template. Yes if every claim of the answer is fully or mostly
    supported, by the context or (criterion correctness) by the reference. Every other prompt
    raises `JudgeError`: this is no language model.

    >>> from langchain_classic.evaluation import load_evaluator
    >>> evaluator = load_evaluator("context_qa", llm=LexicalLLM())
    >>> said = {"prediction": "It opens at nine.", "reference": "It opens at nine.", "input": "When?"}
    >>> evaluator.evaluate_strings(**said)["score"]
    1
    """

    @property
    def model_name(self) -> str:
        """The judge's name, which says that it is lexical."""
        return NAME

    @property
    def _llm_type(self) -> str:
        return "tcva-lexical"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        text = str(messages[-1].text)
        if found := _CONTEXT_QA.fullmatch(text):
            levels = _levels(found["result"], found["context"], FAITHFULNESS)
            return "CORRECT" if is_supported(levels) else "INCORRECT"
        found = _CRITERIA.fullmatch(text)
        if found is None or found["criteria"].strip() not in _CORRECTNESS:
            raise unknown_prompt(_KNOWN, text)
        levels = _levels(found["output"], found["reference"], CORRECTNESS)
        letter = "Y" if is_supported(levels) else "N"
        # Levels only: quoted claims could hold words that the evaluator looks for.
        listed = (f"claim {i}: {level.value}" for i, level in enumerate(levels, start=1))
        return "\n".join([*listed, letter, letter])


def _levels(answer: str, source: str, criterion: Criterion) -> list[Verdict]:
    judged = verdicts_on(split_claims(answer), source.split("\n\n"), criterion)
    return [claim.verdict for claim in judged if claim.verdict]


def _pattern(template: str) -> re.Pattern[str]:
    parts = Formatter().parse(template)
    groups = (re.escape(text) + (f"(?P<{name}>.*?)" if name else "") for text, name, _, _ in parts)
    return re.compile("".join(groups), re.DOTALL)


_CONTEXT_QA: Final = _pattern(qa_prompts.CONTEXT_PROMPT.template)
_CRITERIA: Final = _pattern(criteria_prompts.PROMPT_WITH_REFERENCES.template)
_CORRECTNESS: Final = frozenset(
    f"{name}: {text}" for name, text in CriteriaEvalChain.resolve_criteria("correctness").items()
)
