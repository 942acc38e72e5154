"""What scripted servers cannot show: that a real small model can be asked in every form.

Outside the usual run: ``make test-local-model`` starts a llama.cpp server with a model of 98 MB, whose
verdicts are noise, so that no test looks at what they are.
"""

from __future__ import annotations

import os
from typing import Any, Final

import pytest

from tcva_adapters import TCVA, Sample
from tcva_adapters.models.openai_model import OpenAICompatibleModel

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


@pytest.mark.parametrize("logprobs", [False, True])
def test_written_verdicts_are_read(logprobs: bool) -> None:
    result = TCVA("faithfulness", judge=model(logprobs=logprobs)).evaluate(SAMPLE)
    assert result.unscored is None
    assert len(result.claims) == 2
    assert all((claim.probabilities is not None) is logprobs for claim in result.claims)
