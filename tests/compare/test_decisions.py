"""Pass and fail under TCVA and under others, and the temperatures at which they agree."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from tcva_adapters.compare.comparison import report_dict
from tcva_adapters.compare.rows import Row, ScoreTable
from tcva_adapters.compare.views.decision_text import decision_parts, spans_text
from tcva_adapters.compare.views.decisions import DecisionView, decision_view
from tcva_adapters.compare.views.spans import Span, best, outside, passing
from tcva_adapters.compare.views.summary import summarise_table
from tcva_adapters.core.aggregation import Floor
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import text_of
from tcva_adapters.results.assessment import Assessment, Reason, Unscored
from tcva_adapters.results.result import Result, ScoringConfig

BOUNDS = Bounds()


def temperature_of(p: float) -> float:
    """Paper, eq. 6, turned round."""
    return 0.1 + (p + 8) / 20.25 * 0.9


def assessed(sample: str, *verdicts: str) -> Assessment:
    return Assessment.from_verdicts(list(verdicts), sample_id=sample)


def holds(spans: tuple[Span, ...], temperature: float) -> bool:
    return any(temperature in span for span in spans)


# A mean of exponent p over weights 1 and .3 (or .7) reaches .5 where it solves the equation.
MINOR = temperature_of(brentq(lambda p: ((1 + 0.3**p) / 2) ** (1 / p) - 0.5, -5, -1e-6))
NONE = temperature_of(
    brentq(lambda p: 0.5 ** (1 / p) * 0.5 ** (1.5 - temperature_of(p)) - 0.5, 0.5, 12)
)


def view_of(**options: object) -> DecisionView:
    """Four samples: ours passes from T=MINOR, from NONE, everywhere, nowhere."""
    ours = [
        assessed("minor", "fully", "minor"),
        assessed("half", "fully", "none"),
        assessed("good", "fully"),
        assessed("bad", "none"),
    ]
    rows = [
        *(Row(a.sample_id or "", "tcva", Result(a).score) for a in ours),
        *(
            Row(s, "theirs", x)
            for s, x in (("minor", 0.0), ("half", 1.0), ("good", 1.0), ("bad", 0.6))
        ),
    ]
    return decision_view(ours, ScoreTable.of(rows), ours=("tcva",), **options)  # type: ignore[arg-type]  # whatever the test says


def test_by_hand() -> None:
    view = view_of(temperatures=(0.1, 0.5, 0.9))
    (theirs,) = view.methods
    agrees = {s.sample: s.agrees for s in theirs.samples}
    assert agrees["minor"][0].start == 0.1  # the theirs fails it, ours until it passes
    assert agrees["minor"][0].end == pytest.approx(MINOR, abs=1e-9)
    (late,) = agrees["half"]
    assert late.start == pytest.approx(NONE, abs=1e-9)
    assert late.end is None
    assert agrees["good"] == (Span(0.1),)
    assert agrees["bad"] == ()  # passes there, never here
    assert [s.flip for s in theirs.samples][2:] == [0.1, None]
    assert 0.1 < MINOR < 0.5 < NONE < 0.9
    low, middle, high = theirs.at
    assert (low.only_ours, low.only_theirs) == ((), ("half", "bad"))
    assert (middle.only_ours, middle.only_theirs) == (("minor",), ("half", "bad"))
    assert (high.only_ours, high.only_theirs) == (("minor",), ("bad",))
    assert (high.counts.both, high.counts.neither) == (2, 0)
    # good always, minor below MINOR, half from NONE: two at best, on both sides.
    assert theirs.best is not None
    assert (theirs.best.most, theirs.best.of) == (2, 4)
    assert [s.start for s in theirs.best.spans] == [0.1, pytest.approx(NONE, abs=1e-9)]
    # T=.5 is not among them, and the lower span is the wider one.
    assert MINOR - 0.1 > 1 - NONE
    assert theirs.best.temperature == pytest.approx((0.1 + MINOR) / 2, abs=1e-9)
    assert view.best == theirs.best


def test_thresholds_of_either_side() -> None:
    (theirs,) = view_of(thresholds={"theirs": 0.7}).methods
    assert {s.sample: s.passes for s in theirs.samples}["bad"] is False
    assert theirs.threshold == 0.7
    # A mean of 1 and .3 reaches .9 where it solves that equation; 1 and none never does.
    (strict,) = view_of(scoring=ScoringConfig(threshold=0.9)).methods
    late = brentq(lambda p: ((1 + 0.3**p) / 2) ** (1 / p) - 0.9, 1, 12)
    flips = [s.flip for s in strict.samples]
    assert flips == [pytest.approx(temperature_of(late), abs=1e-9), None, 0.1, None]


def test_who_has_no_score_is_named_and_not_counted() -> None:
    refused = Assessment(
        criterion="faithfulness",
        judge="given",
        prompt_version="given",
        unscored=Unscored(reason=Reason.REFUSAL),
        sample_id="refused",
    )
    ours = {"a": assessed("x", "fully"), "refused": refused, "c": assessed("x", "fully")}
    rows = [Row("a", "n", 1.0), Row("refused", "n", 0.0), Row("b", "n", 1.0), Row("c", "n", None)]
    table = ScoreTable.of(rows)
    (theirs,) = decision_view(ours, table).methods
    assert [s.sample for s in theirs.samples] == ["a"]
    assert theirs.unscored_ours == ("refused", "b")
    assert theirs.unscored_theirs == ("c",)
    # By the user's own policy a refusal fails at every T, so it agrees with the theirs everywhere.
    (theirs,) = decision_view(ours, table, scoring=ScoringConfig(on_unscored=0.0)).methods
    assert [(s.sample, s.agrees) for s in theirs.samples] == [
        ("a", (Span(0.1),)),
        ("refused", (Span(0.1),)),
    ]
    (theirs,) = decision_view(ours, table, scoring=ScoringConfig(on_unscored=1.0)).methods
    assert theirs.samples[1].agrees == ()


def test_nothing_in_common() -> None:
    view = decision_view({}, ScoreTable.of([Row("a", "n", 1.0)]))
    (theirs,) = view.methods
    assert (theirs.best, view.best, theirs.unscored_ours) == (None, None, ("a",))
    assert math.isnan(theirs.at[0].counts.agreement)
    assert "0/0" in printed(view)
    assert printed(decision_view({}, ScoreTable.of([]))) == ""


def test_a_second_range_below_exponent_0() -> None:
    # 39 fully and a none, floor 1e-9, no penalty. At p=0 the mean is 1e-9^(1/40) = .596; right
    # above it (39/40)^(1/p) is 0, and reaches .5 at p = ln(39/40)/ln(1/2). Below 0 it starts where
    # ((39 + 1e-9^p)/40)^(1/p) = .5.
    assessment = assessed("x", *["fully"] * 39, "none")
    spans = passing(Result(assessment, ScoringConfig(penalty="off")))
    first = brentq(lambda p: ((39 + 1e-9**p) / 40) ** (1 / p) - 0.5, -4, -1e-6)
    assert [s.start for s in spans] == [
        pytest.approx(temperature_of(first), abs=1e-9),
        pytest.approx(temperature_of(math.log(39 / 40) / math.log(1 / 2)), abs=1e-9),
    ]
    assert spans[0].end == pytest.approx(temperature_of(0), abs=1e-9)
    assert outside(spans, BOUNDS) == (
        Span(0.1, spans[0].start),
        Span(spans[0].end or 0, spans[1].start),
    )


verdict_lists = st.lists(st.sampled_from(LEVELS), min_size=1, max_size=40)
floors: list[tuple[float, Floor]] = [
    (1e-9, "paper"),
    (1e-12, "paper"),
    (1e-9, "always"),
    (0.01, "always"),
    (0.2, "always"),
]
scorings = st.builds(
    lambda floored, **rest: ScoringConfig(eps=floored[0], floor=floored[1], **rest),
    floored=st.sampled_from(floors),
    threshold=st.sampled_from([0.0, 0.01, 0.1, 0.3, 0.5, 0.55, 0.7, 0.9, 1.0]),
    penalty=st.sampled_from(["paper", "ramped", "absolute", "off"]),
    bounds=st.sampled_from([BOUNDS, Bounds(1.0, 9.0), Bounds(-9.0, -1.0), Bounds(-1.0, 2.0)]),
)


@given(verdict_lists, scorings, st.lists(st.floats(0.1, 1.0) | st.floats(0.44, 0.48), max_size=8))
def test_spans_say_what_the_score_says(
    verdicts: list[str], scoring: ScoringConfig, temperatures: list[float]
) -> None:
    result = Result(Assessment.from_verdicts(verdicts), scoring)
    spans = passing(result)
    edges = [e for s in spans for e in (s.start, s.end) if e is not None]
    beside = [min(max(e + d, 0.1), 1.0) for e in edges for d in (-1e-6, 1e-6)]
    for t in (*temperatures, *beside, 0.1, 1.0):
        if all(abs(t - edge) > 1e-9 for edge in edges) or t in (0.1, 1.0):
            passed = result.at(t).passed
            # A score that is flat in T and equal to the threshold wavers in its last bit.
            if abs((result.at(t).score or 0.0) - scoring.threshold) > 1e-12:
                assert holds(spans, t) == passed, (t, spans)
        assert holds(outside(spans, scoring.bounds), t) != holds(spans, t)


cuts = st.lists(st.floats(0.1, 1.0), max_size=4, unique=True).map(sorted)


def spans_from(edges: list[float]) -> tuple[Span, ...]:
    starts, ends = edges[::2], edges[1::2]
    return tuple(Span(a, b) for a, b in zip(starts, [*ends, None], strict=False))


@example(held=[(Span(0.9999999999999999, 1.0),)], current=1.0)  # one float wide
@given(st.lists(cuts.map(spans_from), min_size=1, max_size=8), st.floats(0.1, 1.0))
def test_the_best_range_is_that_of_brute_force(
    held: list[tuple[Span, ...]], current: float
) -> None:
    found = best(held, BOUNDS, current)
    edges = {0.1, 1.0, *(e for spans in held for s in spans for e in (s.start, s.end) if e)}
    ordered = sorted(edges)
    probes = ordered + [a + (b - a) / 2 for a, b in pairwise(ordered)]
    counts = {t: sum(holds(spans, t) for spans in held) for t in probes}
    assert found.most == max(counts.values())
    for t, count in counts.items():
        assert holds(found.spans, t) == (count == found.most)
    assert holds(found.spans, found.temperature)
    if holds(found.spans, current):
        assert found.temperature == current


@settings(max_examples=25)  # each is six searches and more
@given(
    st.lists(st.tuples(verdict_lists, st.booleans()), min_size=1, max_size=6),
    st.floats(0.1, 1.0),
)
def test_lists_and_ranges_tell_the_same_story(
    samples: list[tuple[list[str], bool]], temperature: float
) -> None:
    ours = {f"s{i}": Assessment.from_verdicts(v) for i, (v, _) in enumerate(samples)}
    rows = [Row(f"s{i}", "n", float(passes)) for i, (_, passes) in enumerate(samples)]
    view = decision_view(ours, ScoreTable.of(rows), temperatures=[temperature])
    (theirs,) = view.methods
    differing = {*theirs.at[0].only_ours, *theirs.at[0].only_theirs}
    assert differing == {s.sample for s in theirs.samples if not holds(s.agrees, temperature)}
    assert theirs.best is not None
    assert len(samples) - len(differing) <= theirs.best.most
    flips = [s.flip for s in theirs.samples if s.flip is not None]
    assume(all(abs(temperature - flip) > 1e-9 for flip in flips))
    for s in theirs.samples:
        passed = Result(ours[s.sample]).at(temperature).passed
        assert (s.sample in differing) == (passed != s.passes)


def test_all_methods_together() -> None:
    ours = {"a": assessed("a", "fully", "minor")}
    table = ScoreTable.of([Row("a", "yes", 1.0), Row("a", "no", 0.0), Row("a", "also no", 0.0)])
    view = decision_view(ours, table)
    assert view.best is not None
    assert (view.best.most, view.best.of) == (2, 3)
    (early,) = view.best.spans
    assert early.start == 0.1
    assert early.end == pytest.approx(MINOR, abs=1e-9)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"temperatures": [1.5]}, "1.5"),
        ({"thresholds": {"theirs": math.inf}}, "inf"),
        ({"scoring": ScoringConfig(), "temperatures": ["soft"]}, "soft"),
    ],
)
def test_wrong_settings_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        view_of(**options)


def test_assessments_need_names_of_their_own() -> None:
    table = ScoreTable.of([Row("a", "n", 1.0)])
    with pytest.raises(InvalidValueError, match="no id"):
        decision_view([Assessment.from_verdicts(["fully"])], table)
    with pytest.raises(InvalidValueError, match="'a'"):
        decision_view([assessed("a", "fully"), assessed("a", "none")], table)
    with pytest.raises(InvalidValueError, match="'tcva'"):
        decision_view([], table, ours=("tcva",))


def printed(view: DecisionView) -> str:
    return text_of(decision_parts(view), 100)


def test_console_and_json() -> None:
    view = view_of(temperatures=(0.5,))
    text = printed(view)
    assert "theirs" in text
    assert "bad     no T " in text
    assert f"fail .00 T<{MINOR:.3f}".replace("0.", ".", 1) in text.replace("T<0.", "T<.")
    assert "pass .60 no T" in text
    assert "good" not in text.splitlines()[-5:]  # nobody differs about it
    whole = json.loads(json.dumps(view.to_dict(), allow_nan=False))
    assert whole["methods"][0]["at"][0]["counts"]["n"] == 4
    assert whole["methods"][0]["at"][0]["only_theirs"] == ["half", "bad"]
    assert whole["best"]["spans"][1]["end"] is None
    report = report_dict(summarise_table(ScoreTable.of([Row("a", "x", 1.0)])), view)
    assert report["decisions"] == view.to_dict()


def test_many_methods_and_samples_fit_100_columns() -> None:
    ours = {f"sample-{i:03}": assessed("x", "fully", "minor") for i in range(30)}
    rows = [Row(s, f"framework{m} faithfulness", 0.0) for s in ours for m in range(6)]
    text = printed(decision_view(ours, ScoreTable.of(rows)))
    assert max(map(len, text.splitlines())) <= 100
    assert "... and 25 more" in text
    assert "sample-000: TCVA passes it at T>=" in text
    assert "  pass: nobody" in text


def test_ranges_in_words() -> None:
    assert spans_text((), 0.1) == "no T"
    assert spans_text((Span(0.1),), 0.1) == "any T"
    assert spans_text((Span(0.2, 0.3),) * 4, 0.1) == ", ".join([".200 to .300"] * 3) + ", ..."
    assert np.isclose(temperature_of(1.0), 0.5)


FUSED = st.lists(
    st.lists(st.sampled_from(list(LEVELS)), min_size=1, max_size=4), min_size=2, max_size=3
)


@settings(max_examples=40, deadline=None)
@given(judges=FUSED, threshold=st.floats(0.05, 0.95))
@example(judges=[["fully", "none"], ["minor", "none"]], threshold=0.0001)
def test_fused_scores_pass_where_they_reach_the_threshold(
    judges: list[list[str]], threshold: float
) -> None:
    main, *members = [Assessment.from_verdicts(words) for words in judges]
    assessment = main.model_copy(update={"members": tuple(members)})
    result = Result(assessment, ScoringConfig(threshold=threshold))
    spans = passing(result)
    for temperature in np.linspace(0.1, 1.0, 37).tolist():
        score = result.at(temperature).score
        assert score is not None
        if abs(score - threshold) > 1e-9:
            assert holds(spans, temperature) is (score >= threshold)


def test_samples_with_equal_verdicts_of_the_first_judge_alone_are_told_apart() -> None:
    main = assessed("a", "fully", "fully")
    fused = {
        name: main.model_copy(
            update={"sample_id": name, "members": (Assessment.from_verdicts([word]),)}
        )
        for name, word in (("a", "fully"), ("b", "none"))
    }
    table = ScoreTable.of([Row("a", "theirs", 1.0), Row("b", "theirs", 1.0)])
    view = decision_view(fused, table)
    # The geometric mean of 1 and 0 is below any threshold worth the name.
    assert [sample.flip is None for sample in view.methods[0].samples] == [False, True]
    assert view.methods[0].at[0].only_theirs == ("b",)
