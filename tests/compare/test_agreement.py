"""Agreement of a panel's judges, against published figures."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tcva_adapters import Assessment
from tcva_adapters.compare.agreement import _alpha, disputed, panel_agreement
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import ClaimVerdict, Reason, Unscored

NAN = float("nan")


def judged(judge: str, *words: str | None) -> Assessment:
    claims = tuple(ClaimVerdict(claim=f"claim {i}", verdict=w) for i, w in enumerate(words))  # type: ignore[arg-type]  # words of the levels
    return Assessment(criterion="faithfulness", judge=judge, prompt_version="1", claims=claims)


def failed(judge: str) -> Assessment:
    unscored = Unscored(reason=Reason.TIMEOUT)
    return Assessment(criterion="faithfulness", judge=judge, prompt_version="1", unscored=unscored)


def panel(name: str, *judged: Assessment) -> Assessment:
    first = next(each for each in judged if each.unscored is None)
    return first.model_copy(update={"judge": "panel", "panel": judged, "sample_id": name})


def test_alpha_is_the_published_one() -> None:
    # Krippendorff, Computing Krippendorff's alpha-reliability (2011), example C: four observers,
    # twelve units, values missing; ordinal alpha 0.815.
    observers = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
            [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
        ]
    )
    assert _alpha(observers) == pytest.approx(0.815, abs=5e-4)


def test_pairs_failures_and_counts() -> None:
    agreement = panel_agreement(
        [
            panel("a", judged("x", "fully", "none"), judged("y", "fully", "minor")),
            panel("b", judged("x", "partial", None), failed("y")),
        ]
    )
    assert (agreement.claims, agreement.samples) == (3, 2)
    assert agreement.failed == {"x": 0, "y": 1}
    (pair,) = agreement.pairs
    assert (pair.first, pair.second, pair.claims, pair.exact) == ("x", "y", 2, 0.5)
    # Levels 0, 4 against 0, 3: observed 0 + 1 squared levels, expected (0 + 9 + 16 + 1) / 2 = 13.
    assert pair.kappa == pytest.approx(1 - 1 / 13, abs=1e-12)


def test_perfect_agreement_is_one_and_no_variation_is_undefined() -> None:
    same = [panel("a", judged("x", "fully", "none"), judged("y", "fully", "none"))]
    assert panel_agreement(same).alpha == pytest.approx(1.0, abs=1e-12)
    flat = [panel("a", judged("x", "fully"), judged("y", "fully"))]
    figures = panel_agreement(flat).to_dict()
    assert figures["alpha"] is None
    assert json.loads(json.dumps(figures, allow_nan=False))["pairs"][0]["kappa"] is None


def test_the_most_disputed_come_first_with_their_claims() -> None:
    found = disputed(
        [
            panel("agreed", judged("x", "fully"), judged("y", "fully")),
            panel("close", judged("x", "fully", "fully"), judged("y", "mostly", "fully")),
            panel("far", judged("x", "fully", "fully"), judged("y", "fully", "none")),
            panel("alone", judged("x", "fully"), failed("y")),
        ]
    )
    assert [(d.sample_id, d.spread) for d in found] == [("far", 2.0), ("close", 0.5)]
    assert found[0].claims[0].claim == "claim 1"
    assert found[0].claims[0].verdicts == {"x": "fully", "y": "none"}
    assert len(disputed([panel("f", judged("x", "fully"), judged("y", "none"))], most=0)) == 0


def test_without_a_panel_there_is_nothing_to_agree() -> None:
    with pytest.raises(InvalidValueError, match=r"none of 1 assessments comes from a panel"):
        panel_agreement([Assessment.from_verdicts(["fully"])])


def test_a_claim_that_one_judge_alone_rated_brings_no_level_into_use() -> None:
    # On the only claim that both rated they say the same: there is nothing to tell from chance.
    assert np.isnan(_alpha(np.array([[0.0, 4.0], [0.0, NAN]])))
    assert np.isnan(_alpha(np.array([[0.0, NAN], [NAN, 4.0]])))
