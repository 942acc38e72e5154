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
    """Return the sentences of a text that claim something."""
    return [claim for claim in split_claims(text) if non_claim_kind(claim) is None]


def verdicts_on(claims: Sequence[str], passages: Sequence[str]) -> list[ClaimVerdict]:
    """Return the lexical judge's verdicts, one per claim."""
    return _JUDGE.judge_claims(claims, passages, FAITHFULNESS)


def is_supported(answer: str, passages: Sequence[str]) -> bool:
    """Whether there are claims and all are fully or mostly supported; a refusal has none."""
    levels = {
        claim.verdict for claim in verdicts_on(split_claims(answer), passages)
    } - {None}
    return bool(levels) and levels <= SUPPORTED


def unknown_prompt(known: str, prompt: str) -> JudgeError:
    """Make the error for a prompt that the lexical judge cannot answer.

    Args:
        known: A description of the prompts that it can answer.
        prompt: The prompt.
    """
    return JudgeError(
        f"LexicalLLM is not a model: it answers only prompts of {known}, got {prompt!r:.80}",
        reason="unknown_prompt",
        fatal=True,
    )
