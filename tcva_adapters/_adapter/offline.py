"""The lexical judge behind every adapter's ``LexicalLLM``: frameworks' own metrics, offline."""

from __future__ import annotations

from collections.abc import Sequence

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.errors import JudgeError
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.sentences import split_claims

SUPPORTED = frozenset({Verdict.FULLY, Verdict.MOSTLY})
"""The levels that a yes stands for on a scale that has only yes and no."""

_JUDGE = LexicalJudge()

NAME = _JUDGE.name
"""The judge's name with its version, which says that it is lexical."""


def claims_of(text: str) -> list[str]:
    """The sentences of a text that claim something."""
    return [claim for claim in split_claims(text) if non_claim_kind(claim) is None]


def verdicts_on(claims: Sequence[str], passages: Sequence[str]) -> list[ClaimVerdict]:
    """The lexical judge's verdicts, one per claim."""
    return _JUDGE.judge_claims(claims, passages, FAITHFULNESS)


def is_supported(answer: str, passages: Sequence[str]) -> bool:
    """Whether every claim is fully or mostly supported, and there is one: a refusal is not."""
    levels = {
        claim.verdict for claim in verdicts_on(split_claims(answer), passages)
    } - {None}
    return bool(levels) and levels <= SUPPORTED


def unknown_prompt(known: str, prompt: str) -> JudgeError:
    """The error for a prompt that is none of those that words can answer.

    Args:
        known: What is answered, in words.
        prompt: The prompt.
    """
    msg = f"LexicalLLM is not a model: it answers only prompts of {known}, got {prompt!r:.80}"
    return JudgeError(msg, reason="unknown_prompt", fatal=True)
