"""The lexical judge as a DeepEval LLM: DeepEval's faithfulness, unmodified, offline.

The same judge as behind ``TCVAMetric(model="lexical")``, seen through yes, borderline and no.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from deepeval.templates.resolver import resolve_template

from tcva_adapters._adapter.offline import (
    NAME,
    SUPPORTED,
    claims_of,
    unknown_prompt,
    verdicts_on,
)
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.deepeval.llm import NamedLLM
from tcva_adapters.models.framework_prompts import Shape
from tcva_adapters.samples.json_values import Json

_MAX_NAMED = 3
_WORDS: dict[Verdict | None, str] = {
    **dict.fromkeys(SUPPORTED, "yes"),
    Verdict.NONE: "no",
}
_KNOWN = "DeepEval's faithfulness metric"


class LexicalLLM(NamedLLM):  # type: ignore[no-untyped-call]  # as __init_subclass__ is
    """Answers the prompts of DeepEval's `FaithfulnessMetric` with the lexical judge's verdicts.

    Truths and claims are sentences. ``fully`` and ``mostly`` are a yes, ``partial`` and ``minor``
    borderline, ``none`` a no. It is not a language model: any other prompt raises `JudgeError`.

    >>> from deepeval.metrics import FaithfulnessMetric
    >>> from deepeval.test_case import LLMTestCase
    >>> opens = "The office opens at nine."
    >>> case = LLMTestCase(input="When?", actual_output=opens, retrieval_context=[opens])
    >>> FaithfulnessMetric(model=LexicalLLM(), async_mode=False).measure(case, False)
    1.0
    """

    def __init__(self) -> None:
        super().__init__(NAME)

    def generate(self, prompt: str, schema: Shape = None) -> Any:
        """Answer a prompt of DeepEval's faithfulness.

        Args:
            prompt: The prompt.
            schema: The model of the reply; None for JSON text.

        Raises:
            JudgeError: It is another prompt.
        """
        reply = _reply_to(prompt)
        return json.dumps(reply) if schema is None else schema(**reply)

    async def a_generate(self, prompt: str, schema: Shape = None) -> Any:
        """The same, awaited; it does not wait for anything.

        Raises:
            JudgeError: See `generate`.
        """
        return self.generate(prompt, schema)


def _pattern(method: Any, **groups: str) -> re.Pattern[str]:
    """Build the pattern of one of the metric's prompts, with groups for its variables."""
    variables: Any = {name: f"<<{name}>>" for name in groups}
    template = resolve_template(
        "metrics",
        "FaithfulnessMetric",
        method,
        # Another number of truths asks for the most important ones, which words do not show.
        limit=" FACTUAL, undisputed truths",
        multimodal_instruction="",
        **variables,
    )
    pattern = re.escape(template)
    for name, group in groups.items():
        pattern = pattern.replace(re.escape(f"<<{name}>>"), f"(?P<{name}>{group})", 1)
    return re.compile(pattern, re.DOTALL)


_TEXT = ".*"
_LIST = r"\[[^\n]*\]"
"""A list in a prompt, as Python writes it: on one line, whatever its texts."""

_TRUTHS = _pattern("generate_truths", retrieval_context=_TEXT)
_CLAIMS = _pattern("generate_claims", actual_output=_TEXT)
_VERDICTS = _pattern("generate_verdicts", retrieval_context=_TEXT, claims=_LIST)
_REASON = _pattern("generate_reason", score=_TEXT, contradictions=_LIST)


def _reply_to(prompt: str) -> Json:
    """Answer one of the prompts.

    Raises:
        JudgeError: It is another prompt.
    """
    if match := _TRUTHS.fullmatch(prompt):
        return {"truths": claims_of(match["retrieval_context"])}
    if match := _CLAIMS.fullmatch(prompt):
        return {"claims": claims_of(match["actual_output"])}
    if match := _VERDICTS.fullmatch(prompt):
        passages = match["retrieval_context"].split("\n\n")
        verdicts = [
            {
                "verdict": _WORDS.get(claim.verdict, "borderline"),
                "reason": claim.reason,
            }
            for claim in verdicts_on(_texts_in(match["claims"]), passages)
        ]
        return {"verdicts": verdicts}
    if match := _REASON.fullmatch(prompt):
        faults = _texts_in(match["contradictions"])[:_MAX_NAMED]
        reason = "; ".join(faults) or "no claim contradicts the context"
        return {"reason": f"The score is {match['score']}: {reason}."}
    raise unknown_prompt(_KNOWN, prompt)


def _texts_in(written: str) -> list[str]:
    return [str(item) for item in ast.literal_eval(written)]
