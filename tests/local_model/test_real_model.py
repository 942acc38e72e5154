"""What scripted servers cannot show: that a real small model can be asked in every form.

Outside the usual run: ``make test-local-model`` starts a llama.cpp server with a model of 98 MB, whose
verdicts are noise, so that no test looks at what they are.
"""

from __future__ import annotations

import math
import os
from typing import Any, Final

import pytest

from tcva_adapters import TCVA, Sample
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.judging.label_prompts import ANSWERS, Asked, label_request
from tcva_adapters.judging.label_reading import read_draws, read_tokens
from tcva_adapters.judging.model_judge import ModelJudge
from tcva_adapters.models.metered import Metered
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.models.request import Sampling

URL: Final = os.environ.get("TCVA_LOCAL_MODEL", "")

pytestmark = pytest.mark.skipif(not URL, reason="make test-local-model starts the model it needs")

SAMPLE: Final = Sample(
    id="hours",
    input="When does the office open?",
    response="The office opens at nine. It closes at noon on Fridays.",
    contexts=["The office opens at nine on weekdays. On Fridays it closes at two."],
)


def model(**settings: Any) -> OpenAICompatibleModel:
    return OpenAICompatibleModel("local", base_url=URL, max_tokens=700, **settings)


def test_the_server_does_what_the_library_asks_of_it() -> None:
    found = model().probe()
    assert found["answers"]
    assert found["response_format"] == "json_schema"
    assert found["logprobs"]
    assert found["dropped"] == {}


@pytest.mark.parametrize("prompt", ["full", "compact"])
@pytest.mark.parametrize("logprobs", [False, True])
def test_written_verdicts_are_read(logprobs: bool, prompt: Any) -> None:
    result = TCVA("faithfulness", judge=model(logprobs=logprobs), prompt=prompt).evaluate(SAMPLE)
    assert result.unscored is None
    assert result.assessment.form == {"full": "written", "compact": "compact"}[prompt]
    assert len(result.claims) == 2
    assert all((claim.probabilities is not None) is logprobs for claim in result.claims)


CLAIMS: Final = ("The office opens at nine.", "It closes at noon on Fridays.", "It is in Rome.")


def answer(claim: str, form: Asked, **sampling: Any) -> Any:
    request = label_request(SAMPLE, FAITHFULNESS, claim, form, Sampling(**sampling))
    return model().complete(request)


@pytest.mark.parametrize("form", ["labels", "yes_no"])
def test_the_probabilities_of_one_word_are_read(form: Asked) -> None:
    """The smallest models may answer beside the question: the masses are numbers all the same."""
    reply = answer(CLAIMS[0], form, max_tokens=4, top_logprobs=20)
    assert reply.token_logprobs
    assert len(reply.token_logprobs[0].top) == 20
    reading = read_tokens(reply, ANSWERS[form])
    assert reading is not None
    assert 0.0 <= reading.outside <= 1.0
    assert math.fsum(reading.shares) == pytest.approx(1.0, abs=1e-9) or not any(reading.shares)


@pytest.mark.parametrize("form", ["labels", "yes_no"])
def test_several_choices_come_at_once_or_singly(form: Asked) -> None:
    reply = answer(CLAIMS[0], form, max_tokens=4, choices=3, temperature=1.0)
    assert len(reply.choices) in (0, 3)
    assert 0.0 <= read_draws(reply.choices or (reply.text,), ANSWERS[form]).outside <= 1.0


@pytest.mark.parametrize("verdicts", ["labels", "yes_no", "auto"])
def test_every_form_ends_in_a_score_or_says_why_not(verdicts: Any) -> None:
    judge = ModelJudge(model(), verdicts=verdicts)
    result = TCVA("faithfulness", judge=judge).evaluate(SAMPLE)
    form = result.assessment.form.partition(",")[0]
    assert form in ({"yes_no", "written"} if verdicts == "auto" else {verdicts})
    if result.unscored is None:
        assert len(result.claims) == 2
        assert form == "written" or all(claim.probabilities for claim in result.claims)
        assert form == "written" or result.uncertainty is not None
    else:
        assert result.unscored.reason in ("unreadable_reply", "incomplete_verdicts")
        assert "no verdict for claim" in result.unscored.detail
        assert result.score is None


@pytest.mark.parametrize("form", ["labels", "yes_no"])
def test_the_second_claim_finds_its_beginning_in_the_cache(form: Asked) -> None:
    metered = Metered(model())
    for claim in CLAIMS:
        asked = Sampling(max_tokens=1, top_logprobs=20)
        metered.complete(label_request(SAMPLE, FAITHFULNESS, claim, form, asked))
    _, *later = (call.reply for call in metered.calls)
    assert all(reply.cached_tokens > 0 for reply in later)
    assert all(reply.cached_tokens > reply.input_tokens / 2 for reply in later)
