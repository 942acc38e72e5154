"""How passages were used, over all samples: against a plain count of each figure."""

import math
import random
from typing import Any

import numpy as np
import pytest

from tcva_adapters import TCVA, Assessment, ClaimVerdict, Result, Sample, Verdict
from tcva_adapters.compare import read_scores
from tcva_adapters.compare.scores.passages import passage_measures, passage_tables
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.results.passages import PassageUse
from tcva_adapters.stats.inference import Statistic, estimate

MEASURES = (
    "characters not used",
    "passages used",
    "precision at 1",
    "precision at 3",
    "precision at 5",
    "reciprocal rank",
)


def uses_of(used: list[bool], sizes: list[int]) -> list[PassageUse]:
    return [
        PassageUse(at, None, (0,) if is_used else (), 1.0, size)
        for at, (is_used, size) in enumerate(zip(used, sizes, strict=True), start=1)
    ]


def counted(used: list[bool], sizes: list[int]) -> list[float]:
    """The measures by their definitions, in plain Python."""
    n = len(used)
    if n == 0:
        return [math.nan] * len(MEASURES)
    first = next((1 / rank for rank, flag in enumerate(used, 1) if flag), 0.0)
    unused = sum(size for flag, size in zip(used, sizes, strict=True) if not flag)
    return [
        unused / sum(sizes) if sum(sizes) else math.nan,
        sum(used) / n,
        *(sum(used[:k]) / k if n >= k else math.nan for k in (1, 3, 5)),
        first,
    ]


def test_the_measures_of_a_sample_are_those_of_their_definitions() -> None:
    rng = random.Random(0)
    for n in range(8):
        for _ in range(30):
            used = [rng.random() < 0.4 for _ in range(n)]
            sizes = [rng.choice((0, 1, 40, 900)) for _ in range(n)]
            uses = uses_of(used, sizes)
            measures = passage_measures(uses)
            expected = dict(zip(MEASURES, counted(used, sizes), strict=True))
            known = {name: x for name, x in expected.items() if not math.isnan(x)}
            assert measures == pytest.approx(known, abs=1e-12)


def sample_of(number: int, used: list[bool], **fields: Any) -> tuple[Result, Sample]:
    """A result whose claims quote these passages, and its sample."""
    contexts = [f"Passage {at} of {number} says {at * 7}." for at in range(len(used))]
    quotes = [text for text, flag in zip(contexts, used, strict=True) if flag]
    claims = tuple(
        ClaimVerdict(
            claim=f"claim {at}",
            verdict=Verdict.FULLY if quote else Verdict.NONE,
            evidence=quote,
        )
        for at, quote in enumerate(quotes or [""])
    )
    name = f"s{number}"
    assessment = Assessment(
        **{
            "criterion": "faithfulness",
            "judge": "given",
            "prompt_version": "1",
            "claims": claims,
            "sample_id": name,
            "metadata": {"topic": f"t{number // 3}"},
            **fields,
        }
    )
    sample = Sample(
        id=name, response="x", contexts=contexts, metadata=assessment.metadata
    )
    return Result(assessment), sample


def drawn(seed: int = 1, number: int = 40) -> tuple[list[Result], list[Sample], Any]:
    rng = random.Random(seed)
    used = [
        [rng.random() < 0.5 for _ in range(rng.randrange(1, 7))] for _ in range(number)
    ]
    pairs = [sample_of(at, flags) for at, flags in enumerate(used)]
    results, samples = map(list, zip(*pairs, strict=True))
    return results, samples, used


@pytest.mark.parametrize("group", [None, "topic"])
def test_the_table_holds_means_with_their_intervals(group: str | None) -> None:
    results, samples, used = drawn()
    table = read_scores(results, group=group)
    shown, *_ = passage_tables(table, samples)
    assert (shown.title, [row["measure"] for row in shown.records]) == (
        "passages",
        [*MEASURES],
    )
    columns = np.array(
        [
            counted(flags, [len(text) for text in sample.contexts or ()])
            for flags, sample in zip(used, samples, strict=True)
        ]
    ).T
    groups = [sample.metadata["topic"] for sample in samples] if group else None
    for row, column in zip(shown.records, columns, strict=True):
        statistic: Statistic = "share" if row["measure"] == "precision at 1" else "mean"
        expected = estimate(statistic, column, groups)
        assert row["mean"] == pytest.approx(np.nanmean(column), abs=1e-12)
        assert (row["mean_low"], row["mean_high"]) == (expected.low, expected.high)
        assert row["samples"] == np.isfinite(column).sum()
        assert row["method"] == "faithfulness"
    assert "may still have served" in shown.notes[0]


def test_what_has_no_score_or_no_passage_does_not_count() -> None:
    results, samples, _ = drawn(number=12)
    table = read_scores(results)
    before, *_ = passage_tables(table, samples)
    failed = sample_of(90, [True], claims=(), unscored=Unscored(reason=Reason.TIMEOUT))
    silent = sample_of(91, [True], claims=(), unscored=Unscored(reason=Reason.REFUSAL))
    bare = sample_of(92, [])
    more = [*zip(results, samples, strict=True), failed, silent, bare]
    results, samples = map(list, zip(*more, strict=True))
    after, *_ = passage_tables(read_scores(results), samples)
    assert after.records == before.records


def test_a_sample_that_one_criterion_lacks_counts_for_the_other() -> None:
    results, samples, _ = drawn(number=12)
    others = [
        Result(result.assessment.model_copy(update={"criterion": "context_recall"}))
        for result in results[:-1]
    ]
    table = read_scores({"all": results, "some": others}, group="topic")
    assert [row is None for row in table.results["some"]][-2:] == [False, True]
    shown, *_ = passage_tables(table, samples)
    sizes = {
        row["method"]: row["samples"]
        for row in shown.records
        if row["measure"] == "passages used"
    }
    assert sizes == {"all": 12, "some": 11}


def test_a_measure_that_no_sample_has_is_left_out() -> None:
    result, sample = sample_of(0, [True, False])
    shown, *_ = passage_tables(read_scores([result]), [sample])
    assert [(row["measure"], row["mean"]) for row in shown.records] == [
        ("characters not used", 0.5),
        ("passages used", 0.5),
        ("precision at 1", 1.0),
        ("reciprocal rank", 1.0),
    ]


def test_there_is_no_table_where_nothing_was_compared_with_contexts() -> None:
    sample = Sample(response="Open.", reference="Open.", contexts=["Open."])
    result = TCVA("correctness", judge="lexical").evaluate(sample)
    assert not passage_tables(read_scores([result]), [sample])[0].records
    imported = ScoreTable(("a",), ("m",), np.array([[0.5]]))
    assert not passage_tables(imported, [sample])[0].records


def test_of_a_judge_without_quotes_only_unsupported_answers_count() -> None:
    levels = [Verdict.FULLY, Verdict.NONE, Verdict.FULLY]
    pairs = [
        sample_of(at, [True], claims=(ClaimVerdict(claim="x", verdict=level),))
        for at, level in enumerate(levels)
    ]
    results, samples = map(list, zip(*pairs, strict=True))
    shown, *_ = passage_tables(read_scores(results), samples)
    assert {(row["mean"], row["samples"]) for row in shown.records} == {
        (0.0, 1),
        (1.0, 1),
    }
    assert "do not count" in shown.notes[0]


def test_several_criteria_have_rows_of_their_own() -> None:
    sample = Sample(
        response="Open at nine.", reference="Dogs stay out.",
        contexts=["Open at nine.", "Dogs stay out."], id="a",
    )  # fmt: skip
    names = ("faithfulness", "context_recall", "correctness")
    results = [TCVA(name, judge="lexical").evaluate(sample) for name in names]
    shown, *_ = passage_tables(read_scores(results), [sample])
    ranks = {
        row["method"]: row["mean"]
        for row in shown.records
        if row["measure"] == "reciprocal rank"
    }
    assert ranks == {"faithfulness": 1.0, "context_recall": 0.5}
