"""The lexical judge as a DeepEval LLM: DeepEval's faithfulness, unmodified, offline.

The same judge as behind ``TCVAMetric(model="lexical")``, seen through yes, borderline and no.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from deepeval.templates.resolver import resolve_template
from pydantic import BaseModel

from tcva_adapters._adapter.offline import (
    NAME,
    SUPPORTED,
    claims_of,
    unknown_prompt,
    verdicts_on,
)
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.deepeval.llm import NamedLLM

Fields = Mapping[str, str]
Answer = Callable[[Fields], dict[str, Any]]

_LISTS: Final = ("claims", "contradictions")
_MOST_NAMED: Final = 3
_KNOWN: Final = "DeepEval's faithfulness metric"


class LexicalLLM(NamedLLM):  # type: ignore[no-untyped-call]  # as __init_subclass__ is
    """Answers the prompts of DeepEval's `FaithfulnessMetric` with the lexical judge's verdicts.

    A prompt is known by DeepEval's own template. Truths and claims are sentences. A sentence that
    is fully or mostly supported is a yes, one that is partly supported or a little is borderline,
    ``none`` is a no. Every other prompt raises `JudgeError`: this is no language model.

    >>> from deepeval.metrics import FaithfulnessMetric
    >>> from deepeval.test_case import LLMTestCase
    >>> opens = "The office opens at nine."
    >>> case = LLMTestCase(input="When?", actual_output=opens, retrieval_context=[opens])
    >>> FaithfulnessMetric(model=LexicalLLM(), async_mode=False).measure(case, False)
    1.0
    """

    def __init__(self) -> None:
        super().__init__(NAME)

    def generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        """Answer a prompt of DeepEval's faithfulness.

        Args:
            prompt: The prompt.
            schema: The model of the reply; None for JSON text.

        Raises:
            JudgeError: It is another prompt.
        """
        for pattern, answer in _PROMPTS:
            if found := pattern.fullmatch(prompt):
                reply = answer(found.groupdict())
                return json.dumps(reply) if schema is None else schema(**reply)
        raise unknown_prompt(_KNOWN, prompt)

    async def a_generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        """The same; it takes milliseconds and does not wait for anything.

        Raises:
            JudgeError: See `generate`.
        """
        return self.generate(prompt, schema)


def _known(
    method: Any, answer: Answer, *names: str, **fixed: str
) -> tuple[re.Pattern[str], Answer]:
    """The pattern of one of the metric's prompts, with its variables as groups."""
    given: dict[str, Any] = {**{name: f"<<{name}>>" for name in names}, **fixed}
    template = re.escape(resolve_template("metrics", "FaithfulnessMetric", method, **given))
    for name in names:
        # A list stands in a prompt as Python writes it: on one line, whatever is in it.
        text = r"\[[^\n]*\]" if name in _LISTS else ".*"
        template = template.replace(re.escape(f"<<{name}>>"), f"(?P<{name}>{text})", 1)
    return re.compile(template, re.DOTALL), answer


def _listed(text: str) -> list[str]:
    return [str(item) for item in ast.literal_eval(text)]


def _word(level: Verdict | None) -> str:
    if level in SUPPORTED:
        return "yes"
    return "no" if level is Verdict.NONE else "borderline"


def _verdicts(fields: Fields) -> dict[str, Any]:
    passages = fields["retrieval_context"].split("\n\n")
    judged = verdicts_on(_listed(fields["claims"]), passages)
    return {"verdicts": [{"verdict": _word(v.verdict), "reason": v.reason} for v in judged]}


def _reason(fields: Fields) -> dict[str, Any]:
    faults = _listed(fields["contradictions"])[:_MOST_NAMED]
    why = "; ".join(faults) or "nothing was found against the text"
    return {"reason": f"The score is {fields['score']}: {why}."}


_PROMPTS: Final = (
    _known(
        "generate_truths",
        lambda fields: {"truths": claims_of(fields["retrieval_context"])},
        "retrieval_context",
        # Another number of truths asks for the most important ones, which words do not show.
        limit=" FACTUAL, undisputed truths",
        multimodal_instruction="",
    ),
    _known(
        "generate_claims",
        lambda fields: {"claims": claims_of(fields["actual_output"])},
        "actual_output",
        multimodal_instruction="",
    ),
    _known("generate_verdicts", _verdicts, "retrieval_context", "claims"),
    _known("generate_reason", _reason, "score", "contradictions"),
)
