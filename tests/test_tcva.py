"""TCVA: order, batches, stores, fatal failures. The model is scripted, all else is real."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

import tcva_adapters
from tcva_adapters import TCVA, Assessment, Sample, Verdict
from tcva_adapters.compare import read_scores
from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import (
    InvalidSampleError,
    JudgeError,
)
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.models.protocol import JudgeRequest
from tcva_adapters.results.assessment import ClaimVerdict, Reason
from tcva_adapters.runner import SHARED
from tests.support.scripted import ScriptedModel, verdict_json

PASSAGE = "The office opens at nine. Parking is free for visitors."


def sample(number: int, response: str = "The office opens at nine.") -> Sample:
    return Sample(id=f"s{number}", response=response, contexts=(f"Note {number}. {PASSAGE}",))


def fully(request: JudgeRequest) -> str:
    """A verdict for a one-claim sample, whichever it is."""
    assert "opens at nine" in request.user
    return verdict_json((1, "fully", "opens at nine"))


class Stopped(BaseException):
    """Nothing on the way catches it."""


def test_the_page_shows_the_chain_of_calls_line_by_line() -> None:
    def stop(_: JudgeRequest) -> str:
        raise Stopped

    with pytest.raises(Stopped) as caught:
        TCVA(judge=ScriptedModel([stop])).evaluate(sample(1))
    package = Path(tcva_adapters.__file__).parent
    frames = [frame.f_code for frame, _ in traceback.walk_tb(caught.tb)]
    called = [
        [Path(code.co_filename).relative_to(package).as_posix(), code.co_qualname]
        for code in frames
        if Path(code.co_filename).is_relative_to(package)
    ]
    page = (package.parent / "docs" / "architecture.md").read_text()
    block = page.split("## The chain of calls")[1].split("```")[1]
    assert [line.split()[:2] for line in block.splitlines()[1:]] == called
    assert len(called) == 7


def test_twins_in_a_batch_are_judged_and_counted_once() -> None:
    twins = [sample(1), sample(1).model_copy(update={"id": "twin"}), sample(1)]
    model = ScriptedModel([fully])
    tcva = TCVA(judge=model)
    results = tcva.evaluate_many(twins)
    assert len(model.requests) == 1
    assert [r.assessment.sample_id for r in results] == ["s1", "twin", "s1"]
    assert [r.score for r in results] == [1.0] * 3
    summary = read_scores(results).about["summary"]
    assert (summary.usage.calls, summary.served, summary.scored) == (1, 0, 3)


def test_a_store_serves_a_second_run_without_a_call(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    samples = [sample(i) for i in range(5)]
    first = TCVA(judge=ScriptedModel([fully] * 5), store=path).evaluate_many(samples)
    idle = ScriptedModel([])
    again = TCVA(judge=idle, store=path, temperature=0.1, threshold=0.9).evaluate_many(samples)
    assert not idle.requests
    assert [r.assessment.from_store for r in again] == [True] * 5
    assert [r.assessment.claims for r in again] == [r.assessment.claims for r in first]
    assert [r.assessment.sample_id for r in again] == [s.id for s in samples]


def test_failures_are_asked_again_and_successes_are_not(tmp_path: Path) -> None:
    path, samples = tmp_path / "verdicts.sqlite", [sample(i) for i in range(3)]
    first = ScriptedModel([fully, RuntimeError("boom"), fully])
    TCVA(judge=first, store=path, max_concurrency=1).evaluate_many(samples)
    second = ScriptedModel([fully])
    results = TCVA(judge=second, store=path).evaluate_many(samples)
    assert len(second.requests) == 1
    assert [r.score for r in results] == [1.0, 1.0, 1.0]


def test_a_judge_setting_that_changes_verdicts_changes_the_key() -> None:
    base = TCVA(judge=ScriptedModel([]))
    assert base.key(sample(1)) == TCVA(judge=ScriptedModel([]), temperature=0.9).key(sample(1))
    others = [
        TCVA(judge=ScriptedModel([], name="scripted:two")),
        TCVA(judge=ScriptedModel([]), max_claims=4),
        TCVA(judge=ScriptedModel([]), claims="llm"),
        TCVA("correctness", judge=ScriptedModel([])),
        TCVA(judge="lexical"),
    ]
    assert len({tcva.key(sample(1)) for tcva in [base, *others]}) == len(others) + 1


def test_a_missing_field_raises_for_one_sample_and_is_a_value_in_a_batch() -> None:
    lacking = Sample(id="lone", response="The office opens at nine.")
    with pytest.raises(InvalidSampleError, match="'lone' has no contexts"):
        TCVA(judge="lexical").evaluate(lacking)
    results = TCVA(judge="lexical").evaluate_many([lacking, sample(1)])
    assert results[0].unscored is not None
    assert results[0].unscored.reason is Reason.MISSING_FIELD
    assert results[1].score == 1.0


def test_on_unscored_fills_in_for_samples_but_never_for_failures() -> None:
    empty = Sample(response="The office opens at nine.", contexts=())
    assert TCVA(judge="lexical").evaluate(empty).score is None
    filled = TCVA(judge="lexical", on_unscored=0.0).evaluate(empty)
    assert (filled.score, filled.passed) == (0.0, False)
    assert "counted as 0" in filled.reason
    failed = TCVA(judge=ScriptedModel([RuntimeError("boom")]), on_unscored=1.0).evaluate(sample(1))
    assert failed.score is None


def test_a_refused_key_leaves_what_the_store_knows(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    samples = [sample(i) for i in range(6)]
    TCVA(judge=ScriptedModel([fully] * 5), store=path).evaluate_many(samples[1:])
    refused = ScriptedModel([JudgeError("the key is refused", fatal=True)])
    results = TCVA(judge=refused, store=path, max_concurrency=1).evaluate_many(samples)
    assert [r.score for r in results] == [None, 1.0, 1.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize(("answer", "expected"), [(None, None), ({}, None), ("\ud800", 1.0)])
def test_what_a_judge_of_the_user_s_returns_stays_with_its_sample(
    answer: object, expected: float | None
) -> None:
    class Judge(LexicalJudge):
        is_local = False  # so its judgements are shared

        def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
            if not isinstance(answer, str):
                return answer  # type: ignore[return-value]  # on purpose
            claim = ClaimVerdict(claim="It opens.", verdict=Verdict.FULLY, reason=answer)
            return super().assess(sample, criterion).model_copy(update={"claims": (claim,)})

    results = TCVA(judge=Judge()).evaluate_many([sample(1), sample(2)])
    assert [result.score for result in results] == [expected] * 2
    if expected is None:
        assert results[0].unscored is not None
        assert "must return an Assessment" in results[0].unscored.detail
    assert SHARED.under_way == 0
