"""The lexical judge as a DeepEval LLM: DeepEval's own metrics, unmodified, offline.

The same judge as behind ``TCVAMetric(model="lexical")``, seen through DeepEval's scales: what
differs between the two is the scale alone.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from deepeval.models import DeepEvalBaseLLM
from deepeval.templates.resolver import resolve_template
from pydantic import BaseModel

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.criteria import (
    ANSWER_RELEVANCY,
    CONTEXT_RECALL,
    FAITHFULNESS,
    Criterion,
)
from tcva_adapters.errors import JudgeError
from tcva_adapters.lexical.judge import LexicalJudge
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.sentences import split_claims

SUPPORTED: Final = frozenset({Verdict.FULLY, Verdict.MOSTLY})
"""What a yes means."""

Fields = Mapping[str, str]
Answer = Callable[[LexicalJudge, Fields], dict[str, Any]]

_SHOWN: Final = 60
_ALL_TRUTHS: Final = " FACTUAL, undisputed truths"
_MOST_NAMED: Final = 3


class LexicalLLM(DeepEvalBaseLLM):  # type: ignore[no-untyped-call]  # as __init_subclass__ is
    """Answers the prompts of four of DeepEval's metrics with the lexical judge's verdicts.

    A prompt is known by DeepEval's own template. Truths, claims and statements are sentences. A
    sentence that is fully or mostly supported is a yes, one that is partly supported or a
    little is borderline, ``none`` is a no; where there is no borderline, these are a no as well.
    `HallucinationMetric` gives a verdict per context: a no where a sentence that comes nearest to
    this context is not supported.

    Every other prompt raises `JudgeError`: this is no language model.

    >>> from deepeval.metrics import FaithfulnessMetric
    >>> from deepeval.test_case import LLMTestCase
    >>> opens = "The office opens at nine."
    >>> case = LLMTestCase(input="When?", actual_output=opens, retrieval_context=[opens])
    >>> FaithfulnessMetric(model=LexicalLLM(), async_mode=False).measure(case, False)
    1.0
    """

    def __init__(self) -> None:
        self._lexical = LexicalJudge()
        super().__init__(self._lexical.name)

    def load_model(self, *_: Any, **__: Any) -> DeepEvalBaseLLM:
        """There is nothing to load."""
        return self

    def get_model_name(self) -> str:
        """Name and version of the lexical judge."""
        return self._lexical.name

    def generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        """Answer a prompt of one of DeepEval's metrics.

        Args:
            prompt: The prompt.
            schema: The model of the reply; None for JSON text.

        Raises:
            JudgeError: The prompt is none of those that it knows.
        """
        for known in _PROMPTS:
            fields = known.read(prompt)
            if fields is not None:
                reply = known.answer(self._lexical, fields)
                return json.dumps(reply) if schema is None else schema(**reply)
        start = " ".join(prompt.split())[:_SHOWN]
        msg = (
            "LexicalLLM knows the prompts of DeepEval's faithfulness, answer relevancy, contextual "
            f"recall and hallucination metrics, not {start!r}; as judge of TCVAMetric pass "
            "model='lexical'"
        )
        raise JudgeError(msg, reason="unknown_prompt", fatal=True)

    async def a_generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        """The same; it takes milliseconds and does not wait for anything.

        Raises:
            JudgeError: See `generate`.
        """
        return self.generate(prompt, schema)


@dataclass(frozen=True, slots=True)
class _Known:
    """A prompt of DeepEval's, and how it is answered.

    Attributes:
        pattern: The template, with its variables as groups.
        answer: From the variables to the reply.
    """

    pattern: re.Pattern[str]
    answer: Answer

    def read(self, prompt: str) -> Fields | None:
        """The texts that the prompt was made of, or None where it is another prompt."""
        match = self.pattern.fullmatch(prompt)
        return match and match.groupdict()


def _known(
    metric: str,
    method: Any,
    answer: Answer,
    *,
    texts: Sequence[str] = (),
    lists: Sequence[str] = (),
    **fixed: str,
) -> _Known:
    marks = {name: f"<<{name}>>" for name in (*texts, *lists)}
    given: dict[str, Any] = {**marks, **fixed}
    template = re.escape(resolve_template("metrics", metric, method, **given))
    for name in texts:
        template = template.replace(re.escape(marks[name]), f"(?P<{name}>.*)", 1)
    for name in lists:
        # A list stands in a prompt as Python writes it: on one line, whatever is in it.
        template = template.replace(re.escape(marks[name]), rf"(?P<{name}>\[[^\n]*\])", 1)
    return _Known(re.compile(template, re.DOTALL), answer)


def _listed(text: str) -> list[str]:
    return [str(item) for item in ast.literal_eval(text)]


def _claiming(text: str) -> list[str]:
    claims = split_claims(text)
    return [claim for claim in claims if non_claim_kind(claim) is None]


def _split(name: str, field: str) -> Answer:
    return lambda _, fields: {name: _claiming(fields[field])}


def _ternary(level: Verdict | None) -> str:
    if level in SUPPORTED:
        return "yes"
    return "no" if level is Verdict.NONE else "borderline"


def _binary(level: Verdict | None) -> str:
    return "yes" if level in SUPPORTED else "no"


def _verdicts(
    judge: LexicalJudge,
    claims: Sequence[str],
    passages: Sequence[str],
    criterion: Criterion,
    word: Callable[[Verdict | None], str],
) -> dict[str, Any]:
    judged = judge.judge_claims(claims, passages, criterion)
    return {"verdicts": [{"verdict": word(v.verdict), "reason": v.reason} for v in judged]}


def _agree_with_truths(judge: LexicalJudge, fields: Fields) -> dict[str, Any]:
    passages = fields["retrieval_context"].split("\n\n")
    return _verdicts(judge, _listed(fields["claims"]), passages, FAITHFULNESS, _ternary)


def _are_relevant(judge: LexicalJudge, fields: Fields) -> dict[str, Any]:
    claims = _listed(fields["statements"])
    return _verdicts(judge, claims, [fields["input"]], ANSWER_RELEVANCY, _ternary)


def _are_retrieved(judge: LexicalJudge, fields: Fields) -> dict[str, Any]:
    claims = _claiming(fields["expected_output"])
    passages = _listed(fields["context_to_display"])
    return _verdicts(judge, claims, passages, CONTEXT_RECALL, _binary)


def _agree_with_contexts(judge: LexicalJudge, fields: Fields) -> dict[str, Any]:
    contexts = _listed(fields["contexts"])
    judged = judge.judge_claims(_claiming(fields["actual_output"]), contexts, FAITHFULNESS)
    entries: list[dict[str, str]] = []
    for number in range(1, len(contexts) + 1):
        against = [v for v in judged if v.passage == number and v.verdict not in SUPPORTED]
        reason = "; ".join(v.reason for v in against) or "nothing speaks against this context"
        entries.append({"verdict": "no" if against else "yes", "reason": reason})
    return {"verdicts": entries}


def _reason(*names: str) -> Answer:
    def answer(_: LexicalJudge, fields: Fields) -> dict[str, Any]:
        faults = [text for name in names for text in _listed(fields[name])]
        why = "; ".join(faults[:_MOST_NAMED]) or "nothing was found against the text"
        return {"reason": f"The score is {fields['score']}: {why}."}

    return answer


_SENTENCES: Final = {
    # What the recall prompt calls the parts of a text without images.
    "content_type": "sentence",
    "content_type_plural": "sentences",
    "content_or": "sentence",
    "node_instruction": "",
}
_FAITHFULNESS: Final = "FaithfulnessMetric"
_RELEVANCY: Final = "AnswerRelevancyMetric"
_RECALL: Final = "ContextualRecallMetric"
_HALLUCINATION: Final = "HallucinationMetric"

_PROMPTS: Final = (
    _known(
        _FAITHFULNESS,
        "generate_truths",
        _split("truths", "retrieval_context"),
        texts=["retrieval_context"],
        # Another number of truths asks for the most important ones, which words do not show.
        limit=_ALL_TRUTHS,
        multimodal_instruction="",
    ),
    _known(
        _FAITHFULNESS,
        "generate_claims",
        _split("claims", "actual_output"),
        texts=["actual_output"],
        multimodal_instruction="",
    ),
    _known(
        _FAITHFULNESS,
        "generate_verdicts",
        _agree_with_truths,
        texts=["retrieval_context"],
        lists=["claims"],
    ),
    _known(
        _FAITHFULNESS,
        "generate_reason",
        _reason("contradictions"),
        texts=["score"],
        lists=["contradictions"],
    ),
    _known(
        _RELEVANCY,
        "generate_statements",
        _split("statements", "actual_output"),
        texts=["actual_output"],
    ),
    _known(_RELEVANCY, "generate_verdicts", _are_relevant, texts=["input"], lists=["statements"]),
    _known(
        _RELEVANCY,
        "generate_reason",
        _reason("irrelevant_statements"),
        texts=["score", "input"],
        lists=["irrelevant_statements"],
    ),
    _known(
        _RECALL,
        "generate_verdicts",
        _are_retrieved,
        texts=["expected_output"],
        lists=["context_to_display"],
        **_SENTENCES,
    ),
    _known(
        _RECALL,
        "generate_reason",
        _reason("unsupportive_reasons"),
        texts=["score", "expected_output"],
        lists=["supportive_reasons", "unsupportive_reasons"],
        content_type="sentence",
    ),
    _known(
        _HALLUCINATION,
        "generate_verdicts",
        _agree_with_contexts,
        texts=["actual_output", "contexts_count"],
        lists=["contexts"],
    ),
    _known(
        _HALLUCINATION,
        "generate_reason",
        _reason("contradictions"),
        texts=["score"],
        lists=["factual_alignments", "contradictions"],
    ),
)
