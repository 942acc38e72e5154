"""One protocol for every result: carried as JSON without loss."""

import json
import math
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters import CCRS, TCVA, Assessment, Result, Sample
from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.result_reader import read_result
from tcva_adapters.results.judgement import Reason, Unscored, Usage
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.writer import write_results
from tcva_adapters.samples.json_values import written_out
from tests.support.office import REPLY, VISITED
from tests.support.results import read_assessments
from tests.support.scripted import ScriptedModel

SAMPLE = VISITED.model_copy(update={"metadata": {"domain": "chat"}})

PLAIN = Result(Assessment.from_verdicts(["fully"])).to_dict()


def results() -> list[Scored]:
    scorers: list[Scorer[Any]] = [
        TCVA(judge=ScriptedModel([REPLY])),
        TCVA(
            judge=ScriptedModel([REPLY]),
            fuse="lexical",
            fuse_weights=(1, 2),
            temperature="strict",
            scheme=(1, 0.8, 0.5, 0.2, 0),
            on_unscored=0.0,
        ),
        TCVA(judge=ScriptedModel([RuntimeError("boom")])),
        CCRS(
            ("qr", "cc"),
            judge=ScriptedModel(["80", "90"]),
            max_concurrency=1,
            threshold=0.7,
        ),
        CCRS("ac", judge="lexical", em="normalised"),
    ]
    reference = SAMPLE.model_copy(update={"reference": "At nine."})
    return [scorer.evaluate(reference) for scorer in scorers]


def test_a_result_comes_back_equal_from_its_json() -> None:
    for result in results():
        assert isinstance(result, Scored)
        again = read_result(result.to_json())
        assert again == result
        assert type(again) is type(result)
        assert (again.score, again.passed) == (result.score, result.passed)
        assert again.reason == result.reason
        assert read_result(json.loads(again.to_json())).to_dict() == result.to_dict()
        plain = result.to_dict()
        assert (plain["score"], plain["passed"]) == (result.score, result.passed)
        assert (result.sample_id, type(result.usage), type(result.breakdown)) == (
            "a",
            Usage,
            dict,
        )


def test_a_result_of_another_sample_that_was_never_judged() -> None:
    why = Unscored(reason=Reason.TIMEOUT, detail="never begun")
    kept = (
        "kind",
        "judge",
        "criterion",
        "prompt_version",
        "scoring",
        "lambda_",
        "threshold",
        "em",
    )
    for result in results():
        other = result.unscored_for(why)
        assert (other.score, other.passed, other.unscored, other.claims) == (
            None,
            None,
            why,
            (),
        )
        assert (other.sample_id, other.usage.calls) == (None, 0)
        assert read_result(other.to_json()) == other
        before, after = result.to_dict(), other.to_dict()
        assert {name: after.get(name) for name in kept} == {
            n: before.get(n) for n in kept
        }


def test_equal_judgements_are_equal_whatever_they_cost() -> None:
    first, second = (
        TCVA(judge=ScriptedModel([REPLY])).evaluate(SAMPLE) for _ in range(2)
    )
    cost = {"usage": Usage(calls=9, seconds=3.0, cost=1.0), "from_store": True}
    cheap = first.assessment.model_copy(update=cost)
    assert (first, hash(first.assessment)) == (second, hash(second.assessment))
    assert cheap == first.assessment
    assert first.assessment != first.assessment.model_copy(update={"sample_id": "b"})
    rated, again = (
        CCRS("qr", judge=ScriptedModel(["80"])).evaluate(SAMPLE) for _ in range(2)
    )
    assert rated == again


REFUSED = [
    *(("", "not a result"), ("[]", "got list"), ("{}", "its kind is None")),
    ('{"kind": "grade"}', "'grade'; this version reads tcva, ccrs"),
    (
        json.dumps({**PLAIN, "schema_version": 3}),
        r"of layout 4: .*layout 3 is not supported",
    ),
    (
        json.dumps(PLAIN | {"scoring": PLAIN["scoring"] | {"threshold": 7}}),
        "threshold .*got 7",
    ),
    (
        '{"kind": "ccrs", "answers": {}, "schema_version": 3}',
        r"layout 3 is not supported",
    ),
    ('{"kind": "ccrs", "answers": 3}', "not a CCRS result"),
]


def test_what_is_no_result_is_refused_by_name() -> None:
    for carried, said in REFUSED:
        with pytest.raises(UnreadableInputError, match=said):
            read_result(carried)
    for kind in ("", None, 3):
        with pytest.raises(UnreadableInputError):
            read_result({"kind": kind})
    tcva = TCVA(judge="lexical", on_unscored=0.0)
    refused = tcva.unscored(
        Reason.INVALID_INPUT, "temperature 5.0 is outside [0.1, 1.0]", SAMPLE
    )
    assert (refused.score, refused.passed, refused.sample_id) == (None, None, "a")
    assert refused.reason.startswith("unscored: invalid_input: temperature 5.0")


OPENS = "The office opens at nine."


class Speechless:
    def __str__(self) -> str:
        raise OSError


def circular() -> dict[str, Any]:
    found: dict[str, Any] = {"name": "x"}
    found["self"] = [found, found]
    return found


def deep(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(levels):
        found = {"a": found}
    return found


METADATA = {
    "bytes": {"b": b"\xff\xfe"}, "circular": circular(), "deep": deep(5000), "less deep": deep(400),
    "speechless": {"o": Speechless()}, "half a character": {"t": "\ud800"},
    "a long number": {"n": 10**5000},
    "nan": {"n": [math.nan, np.float32(0.5), np.arange(2)]},
    "keys that are no texts": {"k": {1: 2, (1, 2): {"\ud800": 3}}},
    "values of Python's own": {"d": date(2026, 1, 1), "c": Decimal("1.5"), "s": {1}, "o": object()},
}  # fmt: skip


def test_no_metadata_break_what_was_judged(tmp_path: Path) -> None:
    fused = TCVA(judge="lexical", fuse=TCVA("answer_relevancy", judge="lexical"))
    scorers: list[Any] = [fused, CCRS("qr", judge="lexical")]
    for metadata in METADATA.values():
        sample = Sample(
            input="When?", response=OPENS, contexts=(OPENS,), metadata=metadata
        )
        for scorer in scorers:
            (result,) = scorer.evaluate_many([sample])
            assert type(result).from_json(result.to_json()).score == result.score
            json.dumps(result.to_dict()).encode()
        judged = fused.evaluate(sample).assessment
        write_results(tmp_path / "a.jsonl", [judged])
        assert read_assessments(tmp_path / "a.jsonl")[0].verdicts == judged.verdicts


def test_what_json_cannot_hold_is_text() -> None:
    values = {
        "n": np.int64(3),
        "all": np.arange(2),
        "o": Speechless(),
        "long": 10**5000,
    }
    assert written_out(values) == {
        "n": 3,
        "all": [0, 1],
        "o": "<Speechless>",
        "long": "<int>",
    }
    assert written_out(circular())["name"] == "x"
