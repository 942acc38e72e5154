"""The lexical judge as a LangChain LLM: LangChain's own evaluators, unmodified, offline.

The same judge as behind ``TCVAEvaluator("lexical")``, seen through LangChain's scales: what
differs between the two is the scale alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any, Final

from langchain_classic.evaluation.criteria import prompt as criteria_prompts
from langchain_classic.evaluation.criteria.eval_chain import CriteriaEvalChain
from langchain_classic.evaluation.qa import eval_prompt as qa_prompts
from langchain_classic.evaluation.scoring import prompt as scoring_prompts
from langchain_classic.evaluation.scoring.eval_chain import resolve_criteria
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import BaseMessage
from pydantic import PrivateAttr

from tcva_adapters.core.verdicts import Verdict, WeightScheme
from tcva_adapters.criteria import ANSWER_RELEVANCY, CORRECTNESS, FAITHFULNESS, Criterion
from tcva_adapters.errors import JudgeError
from tcva_adapters.lexical.judge import LexicalJudge
from tcva_adapters.text.sentences import split_claims

_SUPPORTED: Final = frozenset({Verdict.FULLY, Verdict.MOSTLY})
_SHOWN: Final = 60

Levels = Sequence[Verdict]


class LexicalLLM(SimpleChatModel):
    """Answers the prompts of LangChain's evaluators with the lexical judge's verdicts.

    A prompt is known by its template. Criteria and question answering: yes if every claim of the
    answer is fully or mostly supported, by the context, the reference or (criteria without
    reference) the question. Score string: 1 to 10 by the claims' mean weight.

    Every other prompt raises `JudgeError`, and so does a criterion that words cannot show:
    this is no language model.

    >>> from langchain_classic.evaluation import load_evaluator
    >>> evaluator = load_evaluator("context_qa", llm=LexicalLLM())
    >>> said = {"prediction": "It opens at nine.", "reference": "It opens at nine.", "input": "When?"}
    >>> evaluator.evaluate_strings(**said)["score"]
    1
    """

    _judge: LexicalJudge = PrivateAttr(default_factory=LexicalJudge)

    @property
    def model_name(self) -> str:
        """The judge's name, which says that it is lexical."""
        return self._judge.name

    @property
    def _llm_type(self) -> str:
        return "tcva-lexical"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        text = str(messages[-1].text)
        for task in _TASKS:
            values = task.pattern.fullmatch(text)
            if values is not None:
                task.check(values.groupdict().get("criteria"))
                claims = split_claims(values[task.claims])
                passages = tuple(values[task.against].split("\n\n"))
                judged = self._judge.judge_claims(claims, passages, task.criterion)
                return task.reply([claim.verdict for claim in judged if claim.verdict])
        msg = (
            f"LexicalLLM knows only the prompts of LangChain's evaluators, not {text[:_SHOWN]!r}; "
            "as a judge pass llm='lexical' instead"
        )
        raise JudgeError(msg, reason="unknown_prompt", fatal=True)


@dataclass(frozen=True, slots=True)
class _Task:
    """One prompt of LangChain's, and how the lexical judge answers it.

    Attributes:
        pattern: The template, with its variables as groups.
        claims: The variable whose sentences are judged.
        against: The variable that they are held against.
        criterion: The criterion.
        reply: From levels to the format that the evaluator reads.
        criteria: The criteria texts that words can show; empty where the prompt has none.
    """

    pattern: re.Pattern[str]
    claims: str
    against: str
    criterion: Criterion
    reply: Callable[[Levels], str]
    criteria: tuple[str, ...] = ()

    def check(self, given: str | None) -> None:
        if given is not None and given.strip() not in self.criteria:
            known = " or ".join(repr(text.partition(":")[0]) for text in self.criteria)
            msg = f"words cannot show whether {given.strip()!r} is met; LexicalLLM knows {known}"
            raise JudgeError(msg, reason="unknown_prompt", fatal=True)


def _pattern(template: str) -> re.Pattern[str]:
    parts = Formatter().parse(template)
    groups = (re.escape(text) + (f"(?P<{name}>.*?)" if name else "") for text, name, _, _ in parts)
    return re.compile("".join(groups), re.DOTALL)


def _is_met(levels: Levels) -> bool:
    # An answer without claims, such as a refusal, does not meet anything.
    return bool(levels) and _SUPPORTED.issuperset(levels)


def _listed(levels: Levels) -> str:
    # Levels only: quoted claims could hold words that the evaluators' parsers look for.
    return "\n".join(f"claim {i}: {level.value}" for i, level in enumerate(levels, start=1))


def _letter(levels: Levels) -> str:
    letter = "Y" if _is_met(levels) else "N"
    return f"{_listed(levels)}\n{letter}\n{letter}"


def _grade(levels: Levels) -> str:
    return "CORRECT" if _is_met(levels) else "INCORRECT"


def _explained_grade(levels: Levels) -> str:
    return f"{_listed(levels)}\nGRADE: {_grade(levels)}"


def _rating(levels: Levels) -> str:
    weights = [WeightScheme.DEFAULT.weight(level) for level in levels]
    rating = 1 + round(9 * sum(weights) / len(weights)) if weights else 1
    return f"{_listed(levels)}\nRating: [[{rating}]]"


def _criteria_texts(*names: str) -> tuple[str, ...]:
    found = (CriteriaEvalChain.resolve_criteria(name) for name in names)
    return tuple(f"{name}: {text}" for criteria in found for name, text in criteria.items())


_SCORING_CORRECTNESS: Final = tuple(
    f"{scoring_prompts.CRITERIA_INSTRUCTIONS}{name}: {text}"
    for name, text in resolve_criteria("correctness").items()
)

_TASKS: Final = (
    # A template with a reference before the one without, which would match it as well.
    _Task(
        _pattern(criteria_prompts.PROMPT_WITH_REFERENCES.template),
        "output",
        "reference",
        CORRECTNESS,
        _letter,
        _criteria_texts("correctness"),
    ),
    _Task(
        _pattern(criteria_prompts.PROMPT.template),
        "output",
        "input",
        ANSWER_RELEVANCY,
        _letter,
        _criteria_texts("helpfulness", "relevance"),
    ),
    _Task(_pattern(qa_prompts.PROMPT.template), "result", "answer", CORRECTNESS, _grade),
    _Task(_pattern(qa_prompts.CONTEXT_PROMPT.template), "result", "context", FAITHFULNESS, _grade),
    _Task(
        _pattern(qa_prompts.COT_PROMPT.template),
        "result",
        "context",
        FAITHFULNESS,
        _explained_grade,
    ),
    _Task(
        _pattern(scoring_prompts.SCORING_TEMPLATE_WITH_REFERENCE.messages[-1].prompt.template),  # type: ignore[union-attr]  # a human message
        "prediction",
        "reference",
        CORRECTNESS,
        _rating,
        _SCORING_CORRECTNESS,
    ),
)
