"""The lexical judge as a RAGAS LLM: RAGAS' faithfulness of both families, unmodified, offline.

The same judge as behind ``TCVAMetric(llm="lexical")``, seen through RAGAS' yes and no.
"""

from __future__ import annotations

from typing import Any

from ragas.llms.base import InstructorBaseRagasLLM
from ragas.metrics._faithfulness import NLIStatementPrompt, StatementGeneratorPrompt
from ragas.metrics.collections.faithfulness import util

from tcva_adapters._adapter.offline import (
    NAME,
    SUPPORTED,
    claims_of,
    unknown_prompt,
    verdicts_on,
)
from tcva_adapters.ragas.llm import Reply
from tcva_adapters.samples.json_values import Json

_KNOWN = "RAGAS' faithfulness"
_INPUT = "\nNow perform the same with the following input\ninput: "
_OUTPUT = "\nOutput: "
_SPLIT: tuple[Any, ...] = (
    StatementGeneratorPrompt,
    util.StatementGeneratorPrompt,
)
PROMPTS: tuple[Any, ...] = (*_SPLIT, NLIStatementPrompt, util.NLIStatementPrompt)
"""The prompts that `LexicalLLM` answers."""


class LexicalLLM(InstructorBaseRagasLLM):
    """Answers the prompts of RAGAS' faithfulness, of both families, with the lexical judge's verdicts.

    Statements are the sentences that claim something; a verdict is 1 if the context fully or mostly
    supports the sentence. It is not a language model: any other prompt raises `JudgeError`.

    >>> from ragas.metrics.collections import Faithfulness
    >>> metric = Faithfulness(llm=LexicalLLM())
    >>> opens = "The office opens at nine."
    >>> metric.score(user_input="When?", response=opens, retrieved_contexts=[opens]).value
    1.0
    """

    is_async = True
    model = NAME

    def __init__(self) -> None:
        """Make the LLM; there is nothing to set."""

    def generate(self, prompt: str, response_model: type[Reply]) -> Reply:
        """Answer a prompt of RAGAS' faithfulness.

        Raises:
            JudgeError: It is another prompt.
        """
        for known in PROMPTS:
            if (
                response_model is known.output_model
                and prompt.startswith(f"{known.instruction}\n")
                and _INPUT in prompt
            ):
                values = known.input_model.model_validate_json(
                    prompt.partition(_INPUT)[2].removesuffix(_OUTPUT)
                )
                statements = (
                    claims_of(values.answer)
                    if known in _SPLIT
                    else _verdict_records(values)
                )
                return response_model.model_validate({"statements": statements})
        raise unknown_prompt(_KNOWN, prompt)

    async def agenerate(self, prompt: str, response_model: type[Reply]) -> Reply:
        """The same, awaited; it does not wait for anything.

        Raises:
            JudgeError: See `generate`.
        """
        return self.generate(prompt, response_model)


def _verdict_records(values: Any) -> list[Json]:
    return [
        {
            "statement": v.claim,
            "reason": v.reason,
            "verdict": int(v.verdict in SUPPORTED),
        }
        for v in verdicts_on(values.statements, [values.context])
    ]
