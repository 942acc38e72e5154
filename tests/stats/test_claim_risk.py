"""Certificates over claims of answers: brute force over all thresholds, and figures by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tcva_adapters.stats.claim_risk import AnswerClaims, certify_claims

WEIGHTS = [1.0, 0.9, 0.7, 0.3, 0.0, np.nan, -1.0]
RULES = (1.0, 0.5, 0.0)
Drawn = list[list[tuple[float, bool]]]
"""Of each answer its sentences, with a weight and whether people reject it."""
answers = st.lists(
    st.lists(st.tuples(st.sampled_from(WEIGHTS), st.booleans()), max_size=5),
    min_size=1,
    max_size=40,
)


def claims_of(drawn: Drawn, groups: list[int] | None = None) -> AnswerClaims:
    flat = [
        (place, *sentence) for place, answer in enumerate(drawn) for sentence in answer
    ]
    return AnswerClaims(
        weights=np.array([weight for _, weight, _ in flat], dtype=float),
        rejected=np.array([rejected for *_, rejected in flat], dtype=bool),
        answer=np.array([place for place, *_ in flat], dtype=int),
        n=len(drawn),
        groups=groups,
    )


def served_by_hand(
    answer: list[tuple[float, bool]], threshold: float, rule: float
) -> list[tuple[float, bool]] | None:
    """The sentences that stay; None where the answer is not served."""
    claims = [sentence for sentence in answer if not np.isnan(sentence[0])]
    kept = [sentence for sentence in claims if sentence[0] >= threshold]
    if not answer or (claims and (len(claims) - len(kept)) / len(claims) > rule):
        return None
    return [
        sentence
        for sentence in answer
        if np.isnan(sentence[0]) or sentence[0] >= threshold
    ]


@given(answers, st.sampled_from([0.1, 0.3, 0.6]), st.sampled_from([0.05, 0.3]))
def test_figures_are_those_of_brute_force(
    drawn: Drawn, limit: float, error: float
) -> None:
    n = len(drawn)
    good = [w for answer in drawn for w, bad in answer if not bad and not np.isnan(w)]
    certificates = certify_claims(claims_of(drawn), limit, error=error)
    for rule, certificate in zip(RULES, certificates, strict=True):
        best = None
        ended = False
        for step in certificate.path:
            answers = [served_by_hand(answer, step.threshold, rule) for answer in drawn]
            holds = [any(bad for _, bad in kept or ()) for kept in answers]
            served = [
                kept is not None
                and (
                    all(np.isnan(w) for w, _ in kept)
                    <= all(np.isnan(w) for w, _ in answer)
                )
                for kept, answer in zip(answers, drawn, strict=True)
            ]
            kept_good = [
                w
                for kept in answers
                for w, bad in kept or ()
                if not bad and not np.isnan(w)
            ]
            p = stats.binom.cdf(sum(holds), n, limit)
            assert step.p == pytest.approx(p, abs=1e-12)
            assert step.risk == pytest.approx(sum(holds) / n)
            assert step.empty == pytest.approx(1 - sum(served) / n)
            if good:
                assert step.good_kept == pytest.approx(len(kept_good) / len(good))
            if any(served):
                both = sum(np.array(holds) & served)
                assert step.served_risk == pytest.approx(both / sum(served))
            ended = ended or p > certificate.error
            if kept_good and not ended:
                best = step.threshold
        assert certificate.threshold == best
