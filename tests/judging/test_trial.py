"""A judge tried on claims of known answer: what is found out, and what is advised."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.errors import JudgeError
from tcva_adapters.judging.trial import FIT, FORMS, USABLE, FormTrial, Trial, try_model
from tcva_adapters.judging.trial_cases import CASES, Case
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import JudgeRequest
from tcva_adapters.text.sentences import split_claims

HIGH = (Verdict.FULLY, Verdict.MOSTLY)


def asked(request: JudgeRequest) -> Case | None:
    return next(
        (case for case in CASES if f">>>\n{case.claim}\n<<<END CLAIM" in request.user), None
    )


class Judge:
    """Answers the cases as it is told to."""

    name = "scripted:judge"

    def __init__(
        self, level: Callable[[Case, JudgeRequest], str], quote: str | None = None
    ) -> None:
        self.level = level
        self.quote = quote
        self.parameters: dict[str, Any] = {}
        self.requests: list[JudgeRequest] = []

    def complete(self, request: JudgeRequest) -> ModelReply:
        self.requests.append(request)
        case = asked(request)
        if case is None:
            return ModelReply("yes", input_tokens=800, output_tokens=1, cached_tokens=790)
        quote = case.passage.partition(". ")[0] if self.quote is None else self.quote
        said = {"quote_from_passage": quote, "reason": "r", "verdict": self.level(case, request)}
        return ModelReply(json.dumps({"claim_1": said}), input_tokens=900, output_tokens=30)

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        return self.complete(request)


def knows(case: Case, _request: JudgeRequest | None = None) -> str:
    return next(level for level in Verdict if level in case.levels)


def test_the_cases_are_single_claims_and_no_constant_answer_passes() -> None:
    for case in CASES:
        assert split_claims(case.sample.response or "") == [case.claim]
    assert len({case.tests for case in CASES}) == len(CASES) == 12
    for level in Verdict:
        assert sum(level in case.levels for case in CASES) < USABLE < FIT


def test_a_good_judge_is_asked_in_the_usual_form_alone() -> None:
    judge = Judge(knows)
    trial = try_model(judge, logprobs=True)
    assert [each.form for each in trial.forms] == ["full"]
    assert (trial.forms[0].right, trial.forms[0].unread, trial.settings) == (12, 0, {})
    assert len({request.system for request in judge.requests}) == 2  # the cases', the cache's
    assert (trial.has_prefix_cache, trial.cached_tokens) == (True, 790)
    assert trial.sentence.startswith("scripted:judge: levels right 12 of 12, evidence found ")
    assert trial.sentence.endswith("use the usual settings")
    assert all(len(line) <= 80 for line in trial.text().splitlines())
    assert json.loads(json.dumps(trial.to_dict()))["fit"] is True


def test_the_form_that_does_better_is_advised() -> None:
    def level(case: Case, request: JudgeRequest) -> str:
        return knows(case, request) if "careful examiner" not in request.system else "fully"

    trial = try_model(Judge(level), logprobs=False)
    assert [each.form for each in trial.forms] == ["full", "compact"]
    assert trial.settings == {"prompt": "compact"}
    assert trial.advice == "use --prompt compact"


def test_a_judge_that_guesses_is_not_advised() -> None:
    trial = try_model(Judge(lambda *_: "fully"), logprobs=False)
    assert trial.best is None
    assert "not fit" in trial.sentence
    assert "--judge lexical" in trial.sentence


def test_quotes_that_the_passages_do_not_hold_are_counted() -> None:
    trial = try_model(Judge(knows, "nothing that stands in any passage"), logprobs=False)
    found, given = trial.forms[0].quotes
    assert (found, given) == (0, sum(knows(case) in HIGH for case in CASES))
    assert not trial.forms[0].is_fit
    assert "with care" in trial.advice


def test_forms_by_tokens_are_tried_where_there_are_probabilities() -> None:
    trial = try_model(Judge(lambda *_: "none"), logprobs=True)
    assert [each.form for each in trial.forms] == list(FORMS)


@pytest.mark.parametrize("fatal", [True, False])
def test_a_server_that_fails_ends_the_trial(fatal: bool) -> None:
    class Failing(Judge):
        def complete(self, request: JudgeRequest) -> ModelReply:
            self.requests.append(request)
            msg = "no credit left"
            raise JudgeError(msg, reason="quota" if fatal else "timeout", fatal=fatal)

    judge = Failing(knows)
    trial = try_model(judge, logprobs=True)
    assert "no credit left" in trial.fault
    assert "ended early" in trial.sentence
    assert len(judge.requests) == (1 if fatal else 2)


def test_a_trial_without_any_form_has_a_sentence() -> None:
    trial = Trial("m", (), logprobs=False, fault="late")
    assert trial.sentence == "m: the trial ended early: late"
    assert FormTrial("full", (), 0.0).right == 0
