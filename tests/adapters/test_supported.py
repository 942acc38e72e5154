"""Answers without their unsupported claims, from what each adapter's own runner returns."""

from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Config, Sample
from tcva_adapters.errors import InvalidValueError
from tests.adapters.table import Adapter, both_ways, each_adapter

PASSAGE = "The office opens at nine. Parking is free for visitors."
SAMPLES = [
    Sample(id=f"s{number}", input="When?", response=answer, contexts=[PASSAGE])
    for number, answer in enumerate(
        [
            "The office opens at nine. Bananas ripen faster in paper bags.",
            "Hours:\n\n- Dogs bark.\n- The office opens at nine.\n",
            "Hello! How can I help you?",
        ]
    )
]


@each_adapter
@both_ways
def test_what_a_suite_returns_can_be_cut(adapter: Adapter, asynchronous: bool) -> None:
    expected = [TCVA(judge="lexical").evaluate(each).supported() for each in SAMPLES]
    assert [len(each.removed) for each in expected] == [1, 1, 0]
    evaluator = adapter.built("lexical")
    (results,) = adapter.suite([evaluator], SAMPLES, asynchronous)
    for result, sample, other in zip(results, SAMPLES, expected, strict=True):
        read: Any = result
        assert read.supported(sample=sample) == other
        if read.sample is None:  # LangChain's outputs are plain data
            with pytest.raises(InvalidValueError, match="sample="):
                read.supported()
        else:
            assert read.supported() == other


@each_adapter
def test_settings_of_a_file_say_which_claims_go(
    adapter: Adapter, tmp_path: Path
) -> None:
    path = tmp_path / "tcva.json"
    Config(settings={"claim_threshold": "fully", "max_removed": 0.0}).dump(path)
    evaluator = adapter.drop_in.from_config(path, **{adapter.judge: "lexical"})
    result: Any = adapter.score(evaluator, SAMPLES[0])
    assert (result.scoring.claim_threshold, result.scoring.max_removed) == ("fully", 0)
    assert result.supported(sample=SAMPLES[0]).is_empty
    kept = result.changed(max_removed=1.0).supported(sample=SAMPLES[0])
    assert [part.claim.claim for part in kept.kept] == ["The office opens at nine."]
