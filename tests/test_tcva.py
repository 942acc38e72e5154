"""TCVA: order, batches, stores, fatal failures. The model is scripted, all else is real."""

import asyncio
import copy
import json
import math
import multiprocessing
import pickle
import re
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tcva_adapters
from tcva_adapters import (
    CCRS,
    TCVA,
    Assessment,
    ClaimVerdict,
    Criterion,
    Panel,
    Result,
    Sample,
)
from tcva_adapters.compare import read_scores
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.cost_estimate import estimate_cost
from tcva_adapters.data import sample_lines
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.judges.base import Judge
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.models.judge_model import JudgeRequest, ModelReply
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.results.judgement import Reason
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.results.summary import Summary
from tests.support.lexical_server import lexical_reply
from tests.support.office import FREE as PASSAGE
from tests.support.office import REPLY
from tests.support.office import VISITED as SAMPLE
from tests.support.scripted import ScriptedModel, verdict_json
from tests.support.server import ScriptedServer, auto_judge
from tests.support.shared_judgements import remembered, under_way


def sample(number: int, response: str = "The office opens at nine.") -> Sample:
    return Sample(
        id=f"s{number}", response=response, contexts=(f"Note {number}. {PASSAGE}",)
    )


def fully(request: JudgeRequest) -> str:
    """A verdict for a one-claim sample, whichever it is."""
    assert "opens at nine" in request.user
    return verdict_json((1, "fully", "opens at nine"))


class Stopped(BaseException):
    """Nothing on the way catches it."""


def test_few_calls_stand_between_a_sample_and_its_judge() -> None:
    def stop(_: JudgeRequest) -> str:
        raise Stopped

    with pytest.raises(Stopped) as caught:
        TCVA(judge=ScriptedModel([stop])).evaluate(sample(1))
    package = Path(tcva_adapters.__file__).parent
    frames = [frame.f_code for frame, _ in traceback.walk_tb(caught.tb)]
    called = [
        ".".join(
            [
                *Path(code.co_filename).relative_to(package).with_suffix("").parts,
                code.co_qualname,
            ]
        )
        for code in frames
        if Path(code.co_filename).is_relative_to(package)
    ]
    page = (package.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    page = page.partition("on the stack")[2].partition("\n- ")[0]
    rows = re.findall(r"(?m)^\| (`.+?`) \|", page)
    written = re.findall("`(.+?)`", " ".join(rows))
    assert all(
        there.endswith(name) for there, name in zip(called, written, strict=True)
    )
    assert len(called) == 6


def test_twins_in_a_batch_are_judged_and_counted_once() -> None:
    twins = [sample(1), sample(1).model_copy(update={"id": "twin"}), sample(1)]
    model = ScriptedModel([fully])
    tcva = TCVA(judge=model)
    results = tcva.evaluate_many(twins)
    assert len(model.requests) == 1
    assert [r.assessment.sample_id for r in results] == ["s1", "twin", "s1"]
    assert [r.score for r in results] == [1.0] * 3
    summary = read_scores(results).judged.summary
    assert isinstance(summary, Summary)
    assert (summary.usage.calls, summary.served, summary.reasons.total()) == (1, 0, 0)


def test_a_store_serves_a_second_run_without_a_call(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    samples = [sample(i) for i in range(5)]
    first = TCVA(judge=ScriptedModel([fully] * 5), store=path).evaluate_many(samples)
    idle = ScriptedModel([])
    again = TCVA(judge=idle, store=path, temperature=0.1, threshold=0.9).evaluate_many(
        samples
    )
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
    assert base.key(sample(1)) == TCVA(judge=ScriptedModel([]), temperature=0.9).key(
        sample(1)
    )
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
    assert (results[0].unscored.reason, results[1].score) == (Reason.MISSING_FIELD, 1.0)


def test_on_unscored_fills_in_for_samples_but_never_for_failures() -> None:
    empty = Sample(response="The office opens at nine.", contexts=())
    assert TCVA(judge="lexical").evaluate(empty).score is None
    filled = TCVA(judge="lexical", on_unscored=0.0).evaluate(empty)
    assert (filled.score, filled.passed) == (0.0, False)
    assert "scored as 0" in filled.reason
    failed = TCVA(
        judge=ScriptedModel([RuntimeError("boom")]), on_unscored=1.0
    ).evaluate(sample(1))
    assert failed.score is None


def test_a_refused_key_leaves_what_the_store_knows(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    samples = [sample(i) for i in range(6)]
    TCVA(judge=ScriptedModel([fully] * 5), store=path).evaluate_many(samples[1:])
    refused = ScriptedModel([JudgeError("the key is refused", fatal=True)])
    results = TCVA(judge=refused, store=path, max_concurrency=1).evaluate_many(samples)
    assert [r.score for r in results] == [None, 1.0, 1.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("answer", "expected"), [(None, None), ({}, None), ("\ud800", 1.0)]
)
def test_what_a_users_judge_returns(answer: object, expected: float | None) -> None:
    class Judge(LexicalJudge):
        is_local = False  # so its judgements are shared

        def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
            if not isinstance(answer, str):
                return answer  # type: ignore[return-value]  # on purpose
            claim = ClaimVerdict(
                claim="It opens.", verdict=Verdict.FULLY, reason=answer
            )
            return (
                super()
                .assess(sample, criterion)
                .model_copy(update={"claims": (claim,)})
            )

    results = TCVA(judge=Judge()).evaluate_many([sample(1), sample(2)])
    assert [result.score for result in results] == [expected] * 2
    if expected is None:
        assert results[0].unscored is not None
        assert "must return an Assessment" in results[0].unscored.detail
    assert under_way() == 0


OTHER = verdict_json((1, "fully", "opens at nine"), (2, "minor", "Parking is free"))


def fused() -> tuple[Result, ScriptedModel]:
    model = ScriptedModel([REPLY])
    second = ScriptedModel([OTHER], name="scripted:two")
    return TCVA(judge=model, fuse=second).evaluate(SAMPLE), model


def test_the_fused_score_is_the_geometric_mean_of_both() -> None:
    result, _ = fused()
    # T=.5 is the arithmetic mean: (1 + .7)/2 = .85 and (1 + .3)/2 = .65.
    scores = {"scripted:one": 0.85, "scripted:two": 0.65}
    assert result.member_scores == pytest.approx(scores, abs=1e-12)
    assert result.score == pytest.approx(math.sqrt(0.85 * 0.65), abs=1e-12)
    assert "fused from scripted:one 0.850, scripted:two 0.650" in result.reason


def test_the_lexical_judge_joins_without_a_call_and_may_have_its_own_criterion() -> (
    None
):
    model = ScriptedModel([REPLY] * 2)
    result = TCVA(judge=model, fuse="lexical").evaluate(SAMPLE)
    alone = TCVA(judge="lexical").evaluate(SAMPLE).score
    assert alone is not None
    assert result.score == pytest.approx(math.sqrt(0.85 * alone), abs=1e-12)
    assert len(model.requests) == result.usage.calls == 1
    member = TCVA("faithfulness", judge="lexical")
    other = TCVA("answer_relevancy", judge=model, fuse=[member]).evaluate(SAMPLE)
    assert other.assessment.criterion == "answer_relevancy"
    assert [m.criterion for m in other.assessment.members] == ["faithfulness"]


def test_a_member_that_fails_or_lacks_a_field_is_left_out_and_said() -> None:
    broken = ScriptedModel([RuntimeError("boom")], name="scripted:two")
    needs_reference = TCVA("correctness", judge="lexical")
    members: dict[str, Any] = {"scripted:two none": (broken, Reason.JUDGE_ERROR)}
    members["none"] = (needs_reference, Reason.MISSING_FIELD)
    for said, (member, reason) in members.items():
        result = TCVA(judge=ScriptedModel([REPLY]), fuse=member).evaluate(SAMPLE)
        assert result.score == pytest.approx(0.85, abs=1e-12)
        assert said in result.reason
        (found,) = result.assessment.members
        assert found.unscored is not None
        assert found.unscored.reason is reason


def test_without_the_first_judge_there_is_no_score_and_nothing_paid_is_lost() -> None:
    second = ScriptedModel([OTHER], name="scripted:two")
    result = TCVA(judge=ScriptedModel([RuntimeError("boom")]), fuse=second).evaluate(
        SAMPLE
    )
    assert result.score is None
    assert len(second.requests) == result.usage.calls == 1


def test_a_member_that_never_answers_is_asked_twenty_times_in_a_batch() -> None:
    samples = [
        SAMPLE.model_copy(update={"id": str(i), "input": f"{i}?"}) for i in range(25)
    ]
    wrong_key = JudgeError("wrong key", fatal=True)
    second = ScriptedModel([wrong_key] * 25, name="scripted:two")
    tcva = TCVA(judge=ScriptedModel([REPLY] * 25), fuse=second, max_concurrency=1)
    results = tcva.evaluate_many(samples)
    assert [r.score for r in results] == pytest.approx([0.85] * 25, abs=1e-12)
    assert len(second.requests) == 20


def test_each_judge_is_served_from_the_store(tmp_path: Path) -> None:
    store = tmp_path / "verdicts.sqlite"
    TCVA(judge=ScriptedModel([REPLY]), store=store).evaluate(SAMPLE)
    for second in (ScriptedModel([OTHER], name="two"), ScriptedModel([], name="two")):
        later = TCVA(judge=ScriptedModel([]), fuse=second, store=store).evaluate(SAMPLE)
        assert later.assessment.from_store
        assert later.score == pytest.approx(math.sqrt(0.85 * 0.65), abs=1e-12)
    assert later.assessment.members[0].from_store


def test_wrong_members_and_weights_fail_when_built() -> None:
    again = TCVA("correctness", judge="lexical", fuse="lexical")
    for how, said in (
        ({"fuse": "lexical", "fuse_weights": (1, 1, 1)}, "per judge \\(2\\)"),
        ({"fuse": "lexical", "fuse_weights": (-1, 1)}, "weights"),
        ({"fuse": "lexcial"}, "unknown judge 'lexcial'; did you mean 'lexical'"),
        ({"fuse": again}, "list all judges in one"),
    ):
        with pytest.raises(InvalidValueError, match=said):
            TCVA(judge="lexical", **how)


def test_samples_that_differ_for_a_further_judge_alone_are_not_judged_as_one() -> None:
    # Faithfulness does not look at the reference, correctness does.
    tcva = TCVA(
        "faithfulness", judge="lexical", fuse=TCVA("correctness", judge="lexical")
    )
    references = (SAMPLE.response, "Grass is green.", SAMPLE.response)
    samples = [SAMPLE.model_copy(update={"reference": each}) for each in references]
    scores = [result.score for result in tcva.evaluate_many(samples)]
    assert scores == [tcva.evaluate(sample).score for sample in samples]
    assert scores == [
        result.score for result in asyncio.run(tcva.aevaluate_many(samples))
    ]
    assert scores[0] != scores[1]


SAMPLES = [Sample.from_record(json.loads(line)) for line in sample_lines()]


class Counting:
    """Answers like a good model, and counts what it is asked."""

    name = "counting"
    parameters: Mapping[str, Any] = {}

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def complete(self, request: JudgeRequest) -> ModelReply:
        self.sizes.append(len((request.system + request.user).encode()))
        if request.schema_name == "ccrs_score":
            return ModelReply('{"score": 50}')
        return ModelReply(lexical_reply(request.user) or "")

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        return self.complete(request)


@pytest.mark.parametrize(
    "scorer_of",
    [lambda judge: TCVA(judge=judge), lambda judge: CCRS(("qr", "ir"), judge=judge)],
)
def test_calls_and_prompts_are_those_that_are_then_made(
    scorer_of: Any, tmp_path: Path
) -> None:
    model = Counting()
    scorer = scorer_of(model).changed(
        store=VerdictStore(tmp_path / "store"), share=False
    )
    (found,) = estimate_cost({"tcva": scorer}, SAMPLES, prices=(2.0, 8.0)).records(
        "calls"
    )
    assert not model.sizes
    scorer.evaluate_many(SAMPLES)
    assert (found["cached"], found["calls"]) == (0, len(model.sizes))
    assert found["prompt_tokens"] == sum(model.sizes) // 4
    priced = (found["prompt_tokens"] * 2 + found["reply_tokens"] * 8) / 1e6
    assert found["cost"] == pytest.approx(priced)
    (again,) = estimate_cost({"tcva": scorer}, SAMPLES).records("calls")
    assert (again["cached"] >= len(model.sizes), again["calls"]) == (True, 0)


def test_the_calls_of_a_judge_of_the_users_own_count_as_none() -> None:
    class Own(Judge):
        name = prompt_version = "own/1"

        def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
            raise NotImplementedError

    report = estimate_cost({"tcva": TCVA(judge=Own())}, SAMPLES)
    assert report.sentence == f"About 0 calls on {len(SAMPLES)} samples."


OPENS = "The office opens at nine."
OPENING = Sample(
    input="When?", response=OPENS, contexts=(OPENS,), reference=OPENS, id="s"
)


class Locked(ScriptedModel):
    """A judge model of a user's that holds what cannot be pickled, and a key."""

    def __init__(self) -> None:
        super().__init__([])

    def __repr__(self) -> str:
        return "Locked(key='sk-secret')"


BUILT: dict[str, Callable[..., Any]] = {
    "tcva": lambda judge, **how: TCVA(judge=judge, **how),
    "ccrs": lambda judge, **how: CCRS("qr", judge=judge, **how),
}

every_kind = pytest.mark.parametrize("make", BUILT.values(), ids=BUILT)


@every_kind
def test_evaluators_come_back_with_their_store(
    make: Callable[..., Any], tmp_path: Path
) -> None:
    made = make("lexical", store=tmp_path / "v.sqlite", threshold=0.7)
    again = pickle.loads(pickle.dumps(made))
    assert again.evaluate(OPENING) == made.evaluate(OPENING)
    assert (again.store.path, again.threshold) == (str(tmp_path / "v.sqlite"), 0.7)
    assert remembered() == 0


@every_kind
def test_what_cannot_be_pickled_is_named_without_its_text(
    make: Callable[..., Any],
) -> None:
    with pytest.raises(
        InvalidValueError, match=r"\(Locked\).*'openai:MODEL'"
    ) as refused:
        pickle.dumps(make(Locked()))
    assert "sk-secret" not in str(refused.value)
    with pytest.raises(InvalidValueError):
        pickle.dumps(make("lexical", store=":memory:"))


def test_a_panel_needs_judges_that_can_be_pickled_and_copies_are_itself() -> None:
    tcva = TCVA(judge=Panel(["lexical", Locked()]), store=":memory:")
    with pytest.raises(InvalidValueError, match=r"judge \(Panel\)"):
        pickle.dumps(tcva)
    assert copy.copy(tcva) is copy.deepcopy(tcva) is tcva
    # A function is left to those who pickle functions, such as cloudpickle.
    model = Locked()
    model._lock = lambda: None  # type: ignore[assignment]  # see above
    assert TCVA(judge=model).__reduce__()[0].keywords["judge"] is model


@pytest.mark.slow
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
# Python warns of forks beside threads, which is one of the ways tried here.
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_workers_share_stores(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-environment")
    with ScriptedServer(auto_judge) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        tcva = TCVA(judge="openai:m", store=tmp_path / "v.sqlite")
        assert b"sk-secret" not in pickle.dumps(tcva)
        context: Any = multiprocessing.get_context(method)
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            score = pool.submit(tcva.evaluate, OPENING).result(timeout=120).score
        again = tcva.evaluate(OPENING)
        assert (again.score, again.assessment.from_store) == (score, True)
        assert server.count == 1
        for make in BUILT.values():
            assert b"sk-secret" not in pickle.dumps(make("openai:m"))
    given = OpenAICompatibleModel(
        "m", base_url="http://127.0.0.1:1/v1", api_key="sk-by-hand"
    )
    with pytest.raises(InvalidValueError) as refused:
        pickle.dumps(TCVA(judge=given))
    assert "sk-by-hand" not in str(refused.value)
