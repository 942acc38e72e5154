"""The lexical judge as a RAGAS LLM: RAGAS' own metrics, unmodified, offline.

The same judge as behind ``TCVAMetric(llm="lexical")``, seen through RAGAS' scales: what differs
between the two is the scale alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel
from ragas.llms.base import InstructorBaseRagasLLM
from ragas.metrics._answer_relevance import ResponseRelevancePrompt
from ragas.metrics._context_recall import ContextRecallClassificationPrompt
from ragas.metrics._factual_correctness import ClaimDecompositionPrompt
from ragas.metrics._faithfulness import NLIStatementPrompt, StatementGeneratorPrompt
from ragas.metrics.collections.answer_relevancy import util as relevancy
from ragas.metrics.collections.context_recall import util as recall
from ragas.metrics.collections.factual_correctness import util as correctness
from ragas.metrics.collections.faithfulness import util as faithfulness
from ragas.metrics.collections.response_groundedness import util as groundedness

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.criteria import CONTEXT_RECALL, FAITHFULNESS, Criterion
from tcva_adapters.errors import JudgeError
from tcva_adapters.lexical.judge import LexicalJudge
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.sentences import split_claims

Reply = TypeVar("Reply", bound=BaseModel)

SUPPORTED: Final = frozenset({Verdict.FULLY, Verdict.MOSTLY})
"""What a yes means on a scale that has only yes and no."""

_INPUT: Final = "\nNow perform the same with the following input\ninput: "
_OUTPUT: Final = "\nOutput: "
_SHOWN: Final = 60


class LexicalLLM(InstructorBaseRagasLLM):
    """Answers the prompts of RAGAS' metrics with the lexical judge's verdicts.

    A prompt is known by its instruction and by the model of its reply, in both families.
    Statements and claims are the sentences that claim something; a verdict is 1 if the sentence is
    fully or mostly supported. Groundedness: 2 if all sentences are, 0 if all are ``none``, else 1.
    Answer relevancy: it can write no question, so the first sentence that claims something stands
    for the generated question; noncommittal is an answer without one.

    Every other prompt raises `JudgeError`: this is no language model.

    >>> from ragas.metrics.collections import Faithfulness
    >>> metric = Faithfulness(llm=LexicalLLM())
    >>> opens = "The office opens at nine."
    >>> metric.score(user_input="When?", response=opens, retrieved_contexts=[opens]).value
    1.0
    """

    is_async = True

    def __init__(self) -> None:
        self._lexical = LexicalJudge()
        self.model = self._lexical.name

    def generate(self, prompt: str, response_model: type[Reply]) -> Reply:
        """Answer a prompt of one of RAGAS' metrics.

        Raises:
            JudgeError: The prompt is none of those that it knows.
        """
        known = known_prompt(prompt, response_model)
        if known is None:
            start = " ".join(prompt.split())[:_SHOWN]
            msg = (
                "LexicalLLM knows the prompts of RAGAS' faithfulness, context recall, factual "
                "correctness, response groundedness and answer relevancy, not "
                f"{response_model.__name__} from {start!r}"
            )
            raise JudgeError(msg, reason="unknown_prompt", fatal=True)
        asked = known.read(prompt)
        return response_model.model_validate(known.answer(self._verdicts, asked))

    async def agenerate(self, prompt: str, response_model: type[Reply]) -> Reply:
        """The same; it takes milliseconds and does not wait for anything.

        Raises:
            JudgeError: See `generate`.
        """
        return self.generate(prompt, response_model)

    def _verdicts(
        self, texts: Sequence[str], against: str, criterion: Criterion
    ) -> list[ClaimVerdict]:
        return self._lexical.judge_claims(list(texts), [against], criterion)


Judging = Callable[[Sequence[str], str, Criterion], list[ClaimVerdict]]


@dataclass(frozen=True, slots=True)
class KnownPrompt:
    """A prompt of RAGAS, and how it is answered.

    Attributes:
        prompt: RAGAS' own prompt class, of either family.
        answer: From the judging and the prompt's input to the fields of its reply.
    """

    prompt: Any
    answer: Callable[[Judging, Any], dict[str, Any]]

    def read(self, prompt: str) -> Any:
        """The input that a prompt was written for, as the prompt's own input model."""
        text = prompt.partition(_INPUT)[2].removesuffix(_OUTPUT)
        return self.prompt.input_model.model_validate_json(text)


def known_prompt(prompt: str, reply: type[BaseModel]) -> KnownPrompt | None:
    """Which of RAGAS' prompts a text is; None for any other text."""
    for known in KNOWN_PROMPTS:
        begins = prompt.startswith(f"{known.prompt.instruction}\n")
        if reply is known.prompt.output_model and begins and _INPUT in prompt:
            return known
    return None


def _said(verdicts: list[ClaimVerdict], verdict: str) -> list[dict[str, Any]]:
    """Verdicts as RAGAS' models have them, which call the number differently."""
    return [
        {"statement": v.claim, "reason": v.reason, verdict: int(v.verdict in SUPPORTED)}
        for v in verdicts
    ]


def _claiming(text: str) -> list[str]:
    return [claim for claim in split_claims(text) if non_claim_kind(claim) is None]


def _statements(_: Judging, asked: Any) -> dict[str, Any]:
    return {"statements": _claiming(asked.answer)}


def _claims(_: Judging, asked: Any) -> dict[str, Any]:
    return {"claims": _claiming(asked.response)}


def _nli(verdicts: Judging, asked: Any) -> dict[str, Any]:
    found = verdicts(asked.statements, asked.context, FAITHFULNESS)
    return {"statements": _said(found, "verdict")}


def _recall(verdicts: Judging, asked: Any) -> dict[str, Any]:
    found = verdicts(_claiming(asked.answer), asked.context, CONTEXT_RECALL)
    return {"classifications": _said(found, "attributed")}


def _groundedness(verdicts: Judging, asked: Any) -> dict[str, Any]:
    found = [v.verdict for v in verdicts(_claiming(asked.response), asked.context, FAITHFULNESS)]
    if found and all(verdict in SUPPORTED for verdict in found):
        return {"rating": 2}
    return {"rating": int(any(verdict not in (None, Verdict.NONE) for verdict in found))}


def _question(_: Judging, asked: Any) -> dict[str, Any]:
    claims = _claiming(asked.response)
    return {"question": (claims or [asked.response])[0], "noncommittal": int(not claims)}


KNOWN_PROMPTS: Final = (
    KnownPrompt(StatementGeneratorPrompt, _statements),
    KnownPrompt(NLIStatementPrompt, _nli),
    KnownPrompt(ContextRecallClassificationPrompt, _recall),
    KnownPrompt(ClaimDecompositionPrompt, _claims),
    KnownPrompt(ResponseRelevancePrompt, _question),
    KnownPrompt(faithfulness.StatementGeneratorPrompt, _statements),
    KnownPrompt(faithfulness.NLIStatementPrompt, _nli),
    KnownPrompt(recall.ContextRecallPrompt, _recall),
    KnownPrompt(correctness.ClaimDecompositionPrompt, _claims),
    KnownPrompt(correctness.NLIStatementPrompt, _nli),
    KnownPrompt(groundedness.ResponseGroundednessJudge1Prompt, _groundedness),
    KnownPrompt(groundedness.ResponseGroundednessJudge2Prompt, _groundedness),
    KnownPrompt(relevancy.AnswerRelevancePrompt, _question),
)
"""All that `LexicalLLM` answers."""
