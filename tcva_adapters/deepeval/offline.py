"""The lexical judge as a DeepEval LLM: DeepEval's faithfulness, unmodified, offline.

The same judge as behind ``TCVAMetric(model="lexical")``, seen through yes, borderline and no.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
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

_LISTS: Final = ("claims", "contradictions")
_MOST_NAMED: Final = 3
_WORDS: Final[dict[Any, str]] = {**dict.fromkeys(SUPPORTED, "yes"), Verdict.NONE: "no"}
_KNOWN: Final = "DeepEval's faithfulness metric"


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

    def generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        """Answer a prompt of DeepEval's faithfulness.

        Args:
            prompt: The prompt.
            schema: The model of the reply; None for JSON text.

        Raises:
            JudgeError: It is another prompt.
        """
        for method, pattern in _PROMPTS.items():
            if found := pattern.fullmatch(prompt):
                reply = _answer(method, found.groupdict())
                return json.dumps(reply) if schema is None else schema(**reply)
        raise unknown_prompt(_KNOWN, prompt)

    async def a_generate(
        self, prompt: str, schema: type[BaseModel] | None = None
    ) -> Any:
        """The same, awaited; it does not wait for anything.

        Raises:
            JudgeError: See `generate`.
        """
        return self.generate(prompt, schema)


def _pattern(method: Any, names: Iterable[str]) -> re.Pattern[str]:
    """The pattern of one of the metric's prompts, with its variables as groups."""
    given: dict[str, Any] = {name: f"<<{name}>>" for name in names}
    # Another number of truths asks for the most important ones, which words do not show.
    given |= {"limit": " FACTUAL, undisputed truths", "multimodal_instruction": ""}
    template = re.escape(
        resolve_template("metrics", "FaithfulnessMetric", method, **given)
    )
    for name in names:
        # A list stands in a prompt as Python writes it: on one line, whatever is in it.
        text = r"\[[^\n]*\]" if name in _LISTS else ".*"
        template = template.replace(re.escape(f"<<{name}>>"), f"(?P<{name}>{text})", 1)
    return re.compile(template, re.DOTALL)


_PROMPTS: Final = {
    method: _pattern(method, names)
    for method, names in {
        "generate_truths": ["retrieval_context"],
        "generate_claims": ["actual_output"],
        "generate_verdicts": ["retrieval_context", "claims"],
        "generate_reason": ["score", "contradictions"],
    }.items()
}


def _answer(method: str, fields: Mapping[str, str]) -> dict[str, Any]:
    if method == "generate_truths":
        return {"truths": claims_of(fields["retrieval_context"])}
    if method == "generate_claims":
        return {"claims": claims_of(fields["actual_output"])}
    if method == "generate_verdicts":
        claims, passages = (
            _listed(fields["claims"]),
            fields["retrieval_context"].split("\n\n"),
        )
        judged = verdicts_on(claims, passages)
        return {
            "verdicts": [
                {"verdict": _WORDS.get(v.verdict, "borderline"), "reason": v.reason}
                for v in judged
            ]
        }
    faults = _listed(fields["contradictions"])[:_MOST_NAMED]
    why = "; ".join(faults) or "no claim contradicts the context"
    return {"reason": f"The score is {fields['score']}: {why}."}


def _listed(text: str) -> list[str]:
    return [str(item) for item in ast.literal_eval(text)]
