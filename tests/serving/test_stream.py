"""Answers that are served while they arrive, by judges that compute here."""

from __future__ import annotations

import json

import pytest

from tcva_adapters import TCVA, Sample
from tcva_adapters.data import sample_lines
from tcva_adapters.serving import AnswerStream, OnFail, ServedPart, serve

JUDGE = TCVA(judge="lexical")
BUNDLED = [Sample.from_record(json.loads(line)) for line in sample_lines()]
CONTEXTS = ("We open at 9. Lunch is at 12. Plus costs 9 EUR. Basic costs 5 EUR.",)
ANSWER = """Hello! Here is what I found.

# Hours
We open at 9. We close at 23. Lunch is at 12.

## Fees
- Basic costs 70 EUR.
- Plus costs 80 EUR.

Prices:

| Plan | Price |
|---|---|
| Basic costs | 5 EUR |
| Plus costs | 90 EUR |

Ask anybody about free parking on Sundays."""


def chunked(text: str, size: int) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


def streamed(
    sample: Sample, on_fail: OnFail, size: int, tcva: TCVA = JUDGE
) -> tuple[list[ServedPart], AnswerStream]:
    stream = AnswerStream(tcva, sample, on_fail=on_fail)
    return [*stream.chunks(chunked(sample.response or "", size))], stream


@pytest.mark.parametrize("size", [1, 7, 50, 10_000])
@pytest.mark.parametrize("on_fail", ["flag", "remove"])
def test_a_stream_serves_what_is_served_of_the_whole(
    on_fail: OnFail, size: int
) -> None:
    own = Sample(response=ANSWER, contexts=CONTEXTS)
    for sample in [own, *BUNDLED[::7]]:
        whole = serve(JUDGE.evaluate(sample), on_fail)
        parts, stream = streamed(sample, on_fail, size)
        assert stream.served == whole
        assert "".join(part.text for part in parts) == whole.text
        assert [mark for part in parts for mark in part.marks] == whole.marks


@pytest.mark.parametrize("on_fail", ["refuse", "raise"])
def test_a_stream_that_ends_at_a_claim_failed_whatever_its_score(
    on_fail: OnFail,
) -> None:
    good, bad = "We open at 9.", "Bananas ripen faster in paper bags."
    before = after = f"{good} {good} {good}"
    answer = f"{before} {bad} {after}"
    lenient = TCVA(judge="lexical", threshold=0.3)
    sample = Sample(response=answer, contexts=CONTEXTS)
    parts, stream = streamed(sample, on_fail, 7, lenient)
    served = stream.served
    assert served is not None
    assert served.result.passed is True
    assert served.failed
    assert served.is_refused is (on_fail == "refuse")
    assert bad not in "".join(part.text for part in parts)


@pytest.mark.parametrize("size", [1, 7])
def test_a_text_without_capitals_waits_for_the_first_one(size: int) -> None:
    text = "we open at 9. lunch is at 12. we close late. and so on. Plus costs 9 EUR."
    for response in (text, text.lower()):
        sample = Sample(response=response, contexts=CONTEXTS)
        parts, stream = streamed(sample, "remove", size)
        assert stream.served == serve(JUDGE.evaluate(sample), "remove")
        assert not stream.served.split_moved
        assert len(parts) == 1
