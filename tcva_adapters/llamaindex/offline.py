"""The lexical judge as a LlamaIndex LLM: LlamaIndex's own evaluators, unmodified, offline.

The same judge as behind ``TCVAEvaluator("lexical")``, seen through LlamaIndex's scales: what
differs between the two is the scale alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from llama_index.core.evaluation import answer_relevancy, correctness, faithfulness, relevancy
from llama_index.core.llms import (
    CompletionResponse,
    CompletionResponseGen,
    CustomLLM,
    LLMMetadata,
)
from llama_index.core.prompts import BasePromptTemplate
from pydantic import PrivateAttr

from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.criteria import ANSWER_RELEVANCY, CORRECTNESS, FAITHFULNESS, Criterion
from tcva_adapters.errors import JudgeError
from tcva_adapters.lexical.judge import LexicalJudge
from tcva_adapters.text.sentences import split_claims

_SUPPORTED: Final = frozenset({Verdict.FULLY, Verdict.MOSTLY})
_WINDOW: Final = 1_000_000
"""Tokens; large enough for all contexts of a sample to reach the judge at once."""
_SHOWN: Final = 60

Values = Mapping[str, Any]


class LexicalLLM(CustomLLM):
    """Answers the prompts of LlamaIndex's evaluators with the lexical judge's verdicts.

    A prompt is known by its template. Faithfulness and relevancy: ``YES`` if every claim of the
    answer is fully or mostly supported by the context. Answer relevancy: one point if any claim
    is related to the question, one if any claim answers it at least mostly. Correctness: the mean
    over the claims, fully 5 to none 1, against the reference.

    Every other prompt raises `JudgeError`: this is no language model.

    >>> from llama_index.core.evaluation import FaithfulnessEvaluator
    >>> evaluator = FaithfulnessEvaluator(llm=LexicalLLM())
    >>> evaluator.evaluate(response="It opens at nine.", contexts=["It opens at nine."]).score
    1.0
    """

    _judge: LexicalJudge = PrivateAttr(default_factory=LexicalJudge)

    @property
    def metadata(self) -> LLMMetadata:
        """What LlamaIndex wants to know of an LLM; the name says that it is lexical."""
        return LLMMetadata(model_name=self._judge.name, context_window=_WINDOW)

    @classmethod
    def class_name(cls) -> str:
        """The name in LlamaIndex's events."""
        return "LexicalLLM"

    def predict(self, prompt: BasePromptTemplate, **prompt_args: Any) -> str:
        """Answer the prompt of one of LlamaIndex's evaluators.

        Raises:
            JudgeError: The prompt is none of LlamaIndex's evaluators', or lacks a reference.
        """
        answer = _ANSWERS.get(prompt.get_template())
        if answer is None:
            raise _unknown(prompt.get_template())
        return answer(self._verdicts, {**prompt.kwargs, **prompt_args})

    async def apredict(self, prompt: BasePromptTemplate, **prompt_args: Any) -> str:
        """The same; it takes milliseconds and does not wait for anything.

        Raises:
            JudgeError: See `predict`.
        """
        return self.predict(prompt, **prompt_args)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Refused: a text that is no evaluator's template cannot be understood by words.

        Raises:
            JudgeError: Always.
        """
        del formatted, kwargs
        raise _unknown(prompt)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Refused likewise.

        Raises:
            JudgeError: Always.
        """
        del formatted, kwargs
        raise _unknown(prompt)

    def _verdicts(self, text: str, against: str, criterion: Criterion) -> list[Verdict]:
        claims = self._judge.judge_claims(split_claims(text), [against], criterion)
        return [claim.verdict for claim in claims if claim.verdict is not None]


Judging = Callable[[str, str, Criterion], list[Verdict]]


def _unknown(prompt: str) -> JudgeError:
    # Not a ValueError: LlamaIndex's query engines log those and go on with an empty answer, which
    # an evaluator would take for a NO.
    start = " ".join(prompt.split())[:_SHOWN]
    msg = (
        "LexicalLLM knows the prompts of LlamaIndex's faithfulness, relevancy, answer relevancy "
        f"and correctness evaluators, not {start!r}"
    )
    return JudgeError(msg, reason="unknown_prompt", fatal=True)


def _faithfulness(verdicts: Judging, values: Values) -> str:
    return _yes_or_no(verdicts(values["query_str"], values["context_str"], FAITHFULNESS))


def _relevancy(verdicts: Judging, values: Values) -> str:
    # The evaluator writes "Question: ...\nResponse: ..."; asked is whether the response is in
    # line with the context.
    _, _, response = values["query_str"].partition("\nResponse: ")
    return _yes_or_no(verdicts(response, values["context_str"], FAITHFULNESS))


def _yes_or_no(verdicts: list[Verdict]) -> str:
    return "YES" if verdicts and _SUPPORTED.issuperset(verdicts) else "NO"


def _answer_relevancy(verdicts: Judging, values: Values) -> str:
    found = verdicts(values["response"], values["query"], ANSWER_RELEVANCY)
    is_related = any(verdict is not Verdict.NONE for verdict in found)
    is_answer = any(verdict in _SUPPORTED for verdict in found)
    return f"{_listed(found)}\n[RESULT] {is_related + is_answer}"


def _correctness(verdicts: Judging, values: Values) -> str:
    if values["reference_answer"] == _NO_REFERENCE:
        msg = "the lexical judge needs a reference answer to judge correctness; the sample has none"
        raise JudgeError(msg, reason="unknown_prompt")
    found = verdicts(values["generated_answer"], values["reference_answer"], CORRECTNESS)
    points = [len(LEVELS) - LEVELS.index(verdict) for verdict in found]
    score = sum(points) / len(points) if points else 1.0
    return f"{score:.1f}\n{_listed(found)}"


def _listed(verdicts: list[Verdict]) -> str:
    return f"Claims: {', '.join(verdicts) or 'none found'}."


_NO_REFERENCE: Final = "(NO REFERENCE ANSWER SUPPLIED)"

_ANSWERS: Final[Mapping[str, Callable[[Judging, Values], str]]] = {
    faithfulness.DEFAULT_EVAL_TEMPLATE.get_template(): _faithfulness,
    relevancy.DEFAULT_EVAL_TEMPLATE.get_template(): _relevancy,
    answer_relevancy.DEFAULT_EVAL_TEMPLATE.get_template(): _answer_relevancy,
    correctness.DEFAULT_EVAL_TEMPLATE.get_template(): _correctness,
}
