"""What scripted servers cannot show: that a real small model can be asked in every form.

Outside the usual run: ``make test-local-model`` starts a llama.cpp server with a model of 98 MB, whose
verdicts are noise, so that no test looks at what they are.
"""

import os
from typing import Any, Final

import pytest

from tcva_adapters import TCVA, Sample
from tcva_adapters.judges.base import VERDICT_FORMS
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.results.settings import VerdictForm

URL: Final = os.environ.get("TCVA_LOCAL_MODEL", "")

pytestmark = pytest.mark.skipif(
    not URL, reason="make test-local-model starts the model it needs"
)

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
    assert found["logprobs"]
    assert found["refused"] == {}


@pytest.mark.parametrize("verdicts", VERDICT_FORMS)
def test_every_form_ends_in_a_score_or_says_why_not(verdicts: VerdictForm) -> None:
    """The smallest models may answer beside the question."""
    result = TCVA("faithfulness", judge=model(), verdicts=verdicts).evaluate(SAMPLE)
    assert result.assessment.form == verdicts
    if result.unscored is None:
        assert len(result.claims) == 2
        assert verdicts == "written" or all(
            claim.probabilities for claim in result.claims
        )
        assert verdicts == "written" or result.interval is not None
    else:
        assert result.unscored.reason in ("unreadable_reply", "incomplete_verdicts")
        assert result.score is None
