"""Agreement of a panel's judges, against published figures."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tcva_adapters import Assessment
from tcva_adapters.compare.agreement import alpha_text, disputed, panel_agreement, panel_report
from tcva_adapters.core.verdicts import LEVELS
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
    assert panel_agreement(same).alpha.value == pytest.approx(1.0, abs=1e-12)
    flat = [panel("a", judged("x", "fully"), judged("y", "fully"))]
    figures = panel_agreement(flat).to_dict()
    assert figures["alpha"]["value"] is None
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


def test_judges_that_share_no_sample_have_no_agreement() -> None:
    apart = [
        panel("a", judged("x", "fully", "none"), failed("y")),
        panel("b", failed("x"), judged("y", "fully", "minor")),
    ]
    found = panel_agreement(apart)
    assert math.isnan(found.alpha.value)
    assert found.alpha.n == 0
    (pair,) = found.pairs
    assert (pair.claims, math.isnan(pair.kappa), math.isnan(pair.exact)) == (0, True, True)
    assert "alpha is not defined" in panel_report(apart).sentence


def test_alpha_has_an_interval_over_samples_or_says_why_not() -> None:
    rng = np.random.default_rng(2)
    levels = [v.value for v in LEVELS]

    def sample(number: int) -> Assessment:
        truth = rng.integers(0, 5, 3)
        said = [np.clip(truth + rng.integers(-1, 2, 3), 0, 4) for _ in range(2)]
        x, y = (
            judged(name, *(levels[i] for i in row)) for name, row in zip("xy", said, strict=True)
        )
        return panel(str(number), x, y)

    found = panel_report([sample(i) for i in range(40)]).agreement.alpha
    assert (found.n, found.clusters, found.reason, found.is_few) == (120, 40, "", False)
    assert found.low < found.value < found.high < 1.0
    assert alpha_text(found) == f"{found.value:.3f} [{found.low:.2f},{found.high:.2f}]"
    few = panel_report([sample(i) for i in range(5)])
    assert "5 samples: an interval needs 20" in str(few)
    assert "below 30 alpha hangs on one or two of them" in " ".join(str(few).split())
    assert few.to_dict()["agreement"]["alpha"]["low"] is None
