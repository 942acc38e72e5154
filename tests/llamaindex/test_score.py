"""What TCVAEvaluator makes of a sample, and its result. The LLM is scripted."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult

from tcva_adapters import TCVA, Sample, Verdict
from tcva_adapters.llamaindex import TCVAEvaluator
from tests.llamaindex.entry import scripted
from tests.llamaindex.office import CONTEXTS, evaluated
from tests.support.office import ONE, QUERY, RESPONSE, SCORE, TWO
from tests.support.scripted import verdict_json




def test_the_result_is_llamaindex_own_with_claims_and_a_dial() -> None:
    llm = scripted(TWO)
    result = evaluated(TCVAEvaluator(llm))
    assert isinstance(result, EvaluationResult)
    assert result.score == pytest.approx(SCORE, abs=1e-12)
    assert result.passing is True
    assert (result.query, result.response, result.contexts) == (QUERY, RESPONSE, CONTEXTS)
    assert not result.invalid_result
    assert result.invalid_reason is None
    assert [c.verdict for c in result.claims] == [Verdict.FULLY, Verdict.MINOR]
    assert [c.evidence for c in result.claims] == ["opens at nine", ""]
    assert result.feedback is not None
    assert "Parking costs money." in result.feedback
    # T=.1 gives p=-8: ((1 + .3^-8) / 2)^(-1/8)
    strict = result.at(0.1, threshold=0.3)
    assert strict.score == pytest.approx(((1 + 0.3**-8) / 2) ** (-1 / 8), abs=1e-12)
    assert strict.passing is True
    assert strict.response == RESPONSE
    assert "T=0.1" in (strict.feedback or "")
    assert len(llm.prompts) == 1




def test_a_failing_score_says_why() -> None:
    result = evaluated(TCVAEvaluator(scripted(TWO), threshold=0.9))
    assert result.passing is False
    assert "0.650 < 0.9" in (result.feedback or "")




def test_unicode_comes_through() -> None:
    text = "Das Büro öffnet um neun – 朝九時です 🕘."
    llm = scripted(verdict_json((1, "fully", "öffnet um neun – 朝九時です 🕘")))
    result = TCVAEvaluator(llm).evaluate(query="何時?", response=text, contexts=[text])
    assert result.score == 1.0
    assert text in llm.prompts[0]
