"""Certificates over claims of answers: brute force over all thresholds, and figures by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.claim_risk import (
    AnswerClaims,
    ClaimStep,
    Of,
    certify_claims,
)
from tcva_adapters.stats.guarantee import certify
from tcva_adapters.stats.p_values import passes_more_p
from tcva_adapters.stats.sampling_units import Units

RULES = (1.0, 0.5, 0.0)
STARTS = {"all": [2.0], "served": [1.0, 0.9, 0.7, 0.3]}
WEIGHTS = [1.0, 0.9, 0.7, 0.3, 0.0, 0.95, 0.62, math.nan, -1.0]
Sentence = tuple[float, bool]
"""A weight, and whether people reject it."""
Drawn = list[list[Sentence]]
answers = st.lists(
    st.lists(st.tuples(st.sampled_from(WEIGHTS), st.booleans()), max_size=5),
    min_size=1,
    max_size=40,
)
mostly_good = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from(WEIGHTS), st.integers(0, 30).map(lambda drawn: not drawn)
        ),
        min_size=1,
        max_size=4,
    ),
    min_size=20,
    max_size=60,
)
either = st.one_of(answers, mostly_good)


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


def only_claims(sentences: list[Sentence]) -> list[Sentence]:
    return [sentence for sentence in sentences if not math.isnan(sentence[0])]


def left_of(answer: list[Sentence], threshold: float, rule: float) -> list[Sentence]:
    """The sentences that stay, none where the answer is refused whole."""
    claims = only_claims(answer)
    left = [sentence for sentence in answer if not sentence[0] < threshold]
    if claims and 1 - len(only_claims(left)) / len(claims) > rule:
        return []
    return left


def step_by_hand(
    drawn: Drawn, threshold: float, rule: float
) -> tuple[list[bool], list[bool], list[Sentence]]:
    """Which answers are served, which hold a rejected sentence, and the good claims that stay."""
    left = [left_of(answer, threshold, rule) for answer in drawn]
    served = [
        bool(only_claims(kept) if only_claims(answer) else kept)
        for kept, answer in zip(left, drawn, strict=True)
    ]
    holds = [any(rejected for _, rejected in kept) for kept in left]
    good = [
        sentence for kept in left for sentence in only_claims(kept) if not sentence[1]
    ]
    return served, holds, good


@given(
    either,
    st.sampled_from([0.1, 0.3, 0.6]),
    st.sampled_from([0.05, 0.3]),
    st.sampled_from(["all", "served"]),
)
def test_figures_are_those_of_brute_force(
    drawn: Drawn, limit: float, error: float, of: Of
) -> None:
    good = [
        sentence
        for answer in drawn
        for sentence in only_claims(answer)
        if not sentence[1]
    ]
    certificates = certify_claims(claims_of(drawn), limit, error=error, of=of)
    assert [each.max_removed for each in certificates] == list(RULES)
    for rule, certificate in zip(RULES, certificates, strict=True):
        by_threshold: dict[float, tuple[float, int]] = {}
        for step in certificate.path:
            served, holds, kept = step_by_hand(drawn, step.threshold, rule)
            assert step_by_hand(drawn, step.up_to, rule) == (served, holds, kept)
            both = sum(np.logical_and(holds, served))
            assert step.empty == pytest.approx(1 - sum(served) / len(drawn), abs=1e-12)
            if good:
                assert step.good_kept == pytest.approx(len(kept) / len(good), abs=1e-12)
            if any(served):
                assert step.served_risk == pytest.approx(both / sum(served), abs=1e-12)
            hits, n = (sum(holds), len(drawn)) if of == "all" else (both, sum(served))
            p = stats.binom.cdf(hits, n, limit) if n else 1.0
            assert step.p == pytest.approx(p, abs=1e-12)
            if n:
                assert step.risk == pytest.approx(hits / n, abs=1e-12)
                bound = stats.beta.ppf(1 - certificate.error, hits + 1, n - hits)
                assert step.bound == pytest.approx(bound if hits < n else 1, abs=1e-9)
            by_threshold[step.threshold] = (p, len(kept))
        lowest = [
            threshold
            for start in STARTS[of]
            for threshold, (_, kept) in by_threshold.items()
            if threshold < start
            and kept
            # Every test from just under the start down to here rejects.
            and all(
                p <= certificate.error
                for other, (p, _) in by_threshold.items()
                if start > other >= threshold
            )
        ]
        assert certificate.threshold == (min(lowest) if lowest else None)
        chosen = certificate.step
        at = chosen.threshold if lowest else certificate.path[0].threshold
        assert chosen.threshold == at
        served, holds, _ = step_by_hand(drawn, at, rule)
        assert certificate.served_risk.n == sum(served)


@given(either, st.sampled_from(RULES))
def test_what_is_served_grows_as_the_threshold_falls(drawn: Drawn, rule: float) -> None:
    path = certify_claims(claims_of(drawn), 0.3, error=0.3)[RULES.index(rule)].path
    for stricter, step in pairwise(path):
        assert stricter.up_to > stricter.threshold > step.up_to >= step.threshold
        assert stricter.risk <= step.risk
        assert stricter.p <= step.p
        assert stricter.empty >= step.empty
        assert not stricter.good_kept > step.good_kept


@given(either, st.randoms(), st.sampled_from(["all", "served"]), st.booleans())
def test_neither_the_order_of_answers_nor_that_of_sentences_counts(
    drawn: Drawn, random: st.DrawFn, of: Of, grouped: bool
) -> None:
    groups = [place // 3 for place in range(len(drawn))] if grouped else None
    places = [*range(len(drawn))]
    random.shuffle(places)  # type: ignore[attr-defined]  # random.Random
    shuffled = [sorted(drawn[place], key=str) for place in places]
    moved = groups and [groups[place] for place in places]
    one, other = (
        certify_claims(claims, 0.3, error=0.3, of=of)
        for claims in (claims_of(drawn, groups), claims_of(shuffled, moved))
    )
    for before, after in zip(one, other, strict=True):
        assert (before.threshold, before.recommended) == (
            after.threshold,
            after.recommended,
        )
        assert before.better_p == pytest.approx(after.better_p, abs=1e-9, nan_ok=True)
        np.testing.assert_allclose(before.path, after.path, rtol=1e-9, atol=1e-12)


@given(either, st.floats(0.1, 1.0))
def test_the_scale_of_weights_does_not_count(drawn: Drawn, factor: float) -> None:
    claims = claims_of(drawn)
    whole = certify_claims(claims, 0.3, error=0.3)
    scaled = certify_claims(
        replace(claims, weights=claims.weights * factor), 0.3, error=0.3
    )
    figures = slice(2, None)
    for one, other in zip(whole, scaled, strict=True):
        assert (one.threshold is None) == (other.threshold is None)
        # The strictest step of scaled weights may be an empty one.
        steps = other.path[-len(one.path) :]
        np.testing.assert_allclose(
            [step[figures] for step in one.path[-len(steps) :]],
            [step[figures] for step in steps],
        )
        if one.threshold is not None:
            np.testing.assert_allclose(one.step[figures], other.step[figures])


@given(
    st.integers(1, 400),
    st.floats(0.01, 0.5),
    st.floats(0.001, 0.3),
)
def test_the_rules_together_use_no_more_than_the_error(
    n: int, limit: float, error: float
) -> None:
    certificates = certify_claims(claims_of([[(1.0, False)]] * n), limit, error=error)
    levels = stats.binom.cdf(np.arange(n), n, limit)
    reached = [
        max(levels[levels <= certificate.error], default=0.0)
        for certificate in certificates
    ]
    assert sum(reached) <= error + 1e-12
    served = certify_claims(
        claims_of([[(1.0, False)]] * n), limit, error=error, of="served"
    )
    assert 4 * sum(each.error for each in served) == pytest.approx(error, rel=1e-12)


def test_sixty_answers_are_enough_for_one_rule_at_a_limit_of_five_per_cent() -> None:
    """0.95 ** 60 is .046: .1 of the error and .3 of the rest can reject nothing, all of it can."""
    drawn = [[(1.0, False), (0.9, True)], [(1.0, False)], [(0.7, False)]] * 20
    cut, half, whole = certify_claims(claims_of(drawn), 0.05, error=0.05)
    assert (half.error, cut.error, whole.error) == pytest.approx(
        (0.005, 0.015, 0.05), abs=1e-15
    )
    assert (cut.threshold, half.threshold) == (None, None)
    assert whole.threshold == pytest.approx(0.95, abs=1e-15)
    assert whole.step.p == pytest.approx(0.95**60, abs=1e-12)
    # At 1 the first answers are refused: of 60 good claims the 20 of the second stay.
    assert whole.step.good_kept == pytest.approx(1 / 3, abs=1e-15)
    assert whole.step.empty == pytest.approx(2 / 3, abs=1e-15)
    assert whole.step.bound == pytest.approx(1 - 0.05 ** (1 / 60), abs=1e-12)


def test_with_groups_their_mean_share_is_tested() -> None:
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 6, 90)
    drawn = [
        [(float(rng.choice([1.0, 0.7, 0.0])), bool(rng.random() < 0.03))] * number
        for number in rng.integers(1, 4, sizes.sum()).tolist()
    ]
    groups = np.repeat(np.arange(90), sizes).tolist()
    for of in STARTS:
        for certificate in certify_claims(
            claims_of(drawn, groups),
            0.2,
            error=0.05,
            of=of,  # type: ignore[arg-type]  # a key
        ):
            for step in certificate.path:
                served, holds, _ = step_by_hand(
                    drawn, step.threshold, certificate.max_removed
                )
                counted = [
                    place
                    for place, is_served in enumerate(served)
                    if is_served or of == "all"
                ]
                by_group: dict[int, list[bool]] = {}
                for place in counted:
                    by_group.setdefault(groups[place], []).append(holds[place])
                share = np.mean([np.mean(marks) for marks in by_group.values()])
                assert step.risk == pytest.approx(share, abs=1e-12)
                tested = certify(
                    [[holds[place] for place in counted]],
                    0.2,
                    error=certificate.error,
                    groups=[groups[place] for place in counted],
                )
                assert step.p == pytest.approx(tested.p[0], rel=1e-9)
                assert step.bound == pytest.approx(tested.bounds[0], abs=1e-9)
    assert certificate.threshold is not None


def useful(n: int) -> Drawn:
    """Answers with a claim that is fine, and in a quarter of them one that is rejected and seen."""
    return [
        [(1.0, False), (0.0, True)] if place % 4 == 0 else [(1.0, False), (0.9, False)]
        for place in range(n)
    ]


def test_the_rule_that_keeps_most_is_recommended_and_cutting_where_they_are_alike() -> (
    None
):
    certificates = certify_claims(claims_of(useful(120)), 0.1, error=0.05)
    assert [each.threshold for each in certificates] == pytest.approx([0.45] * 3)
    # Refusing whole answers loses the good claims of a quarter.
    assert [each.step.good_kept for each in certificates] == pytest.approx(
        [1, 1, 180 / 210]
    )
    assert [each.recommended for each in certificates] == [True, False, False]
    claims = claims_of(useful(120))
    p = passes_more_p(
        claims.weights >= 0.45,
        ~claims.rejected,
        Units(claims.answer.tolist(), claims.weights >= 0),
    )
    assert certificates[0].better_p == pytest.approx(3 * p, rel=1e-9)


def test_a_judge_that_sees_nothing_is_certified_but_not_recommended() -> None:
    rng = np.random.default_rng(0)
    drawn = [
        [(float(rng.choice([1.0, 0.0], p=[0.2, 0.8])), bool(rng.random() < 0.2))]
        for _ in range(400)
    ]
    certificates = certify_claims(claims_of(drawn), 0.1, error=0.05)
    assert all(each.threshold == 0.5 for each in certificates)
    assert min(each.better_p for each in certificates) > 0.05
    assert not any(each.recommended for each in certificates)


def test_where_nothing_has_to_go_no_rule_is_recommended() -> None:
    drawn = [[(0.9, False), (0.3, place == 0)] for place in range(100)]
    certificates = certify_claims(claims_of(drawn), 0.2, error=0.05)
    for each in certificates:
        assert each.threshold == 0.0
        assert each.step == each.path[-1]
        assert not each.recommended


def test_a_rule_that_serves_nothing_is_not_certified() -> None:
    """Every answer holds a rejected claim of the highest weight."""
    drawn = [[(0.9, True), (0.9, False), (0.3, False)]] * 100
    for each in certify_claims(claims_of(drawn), 0.1, error=0.05):
        assert each.threshold is None
        assert each.path[0].p <= each.error
        assert each.step == each.path[0]
        assert (each.step.empty, each.step.good_kept) == (1.0, 0.0)


def test_sentences_that_claim_nothing_stay_and_count() -> None:
    greeted = [[(math.nan, True), (0.3, False)]] * 30 + [[(1.0, False)]] * 70
    cut, half, whole = certify_claims(claims_of(greeted), 0.1, error=0.05)
    # Cutting leaves the greeting, which a stream has sent; the others refuse the answer.
    assert cut.path[0].risk == pytest.approx(0.3)
    assert (cut.path[0].served_risk, cut.path[0].empty) == pytest.approx((0.0, 0.3))
    assert (half.path[0].risk, whole.path[0].risk) == (0.0, 0.0)
    # Alone, it is the answer, and served.
    alone = [[(math.nan, True)]] * 30 + [[(1.0, False)]] * 70
    for each in certify_claims(claims_of(alone), 0.1, error=0.05):
        assert (each.path[0].risk, each.path[0].empty) == pytest.approx((0.3, 0.0))
    # What nobody judged never stays, and an answer without sentences is not served.
    failed: Drawn = [[(-1.0, True)]] * 10 + [[]] * 20 + [[(1.0, False)]] * 70
    for each in certify_claims(claims_of(failed), 0.1, error=0.05):
        assert each.threshold == 0.0
        assert (each.step.risk, each.step.empty) == pytest.approx((0.0, 0.3))


@pytest.mark.parametrize(
    ("limit", "error", "said"),
    [
        (0.0, 0.05, "limit must be between 0 and 1"),
        (10, 0.05, "limit must be between 0 and 1"),
        (0.1, 1.0, "error must be between 0 and 1, e.g. 0.1, got 1.0"),
    ],
)
def test_refusals(limit: float, error: float, said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        certify_claims(claims_of(useful(40)), limit, error=error)
    with pytest.raises(InvalidValueError, match="groups for"):
        certify_claims(claims_of(useful(40), groups=[1, 2]), 0.1, error=0.05)


def test_served_paths_begin_where_they_were_fixed() -> None:
    """At the top too few are served for a test; lower down a path that begins there is certified."""
    few = [[(1.0, False)]] * 5
    many = [[(0.8, False)]] * 295
    cut, *_ = certify_claims(claims_of(few + many), 0.1, error=0.05, of="served")
    assert isinstance(cut.path[0], ClaimStep)
    assert cut.path[0].p == pytest.approx(0.9**5)
    # Weights of .8 stay at thresholds just under .7, where the second path begins.
    assert cut.threshold == 0.0
    # A rise between two starts ends a path, and the next one begins anew.
    rises = few + [[(0.85, True)]] * 10 + [[(0.65, False)]] * 900
    cut, *_ = certify_claims(claims_of(rises), 0.1, error=0.05, of="served")
    assert cut.path[1].p > cut.error
    assert cut.threshold == 0.0
